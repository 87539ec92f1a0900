// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers one connection's requests: three paths, GET and HEAD, no bodies. */
final class OpsRequests extends SimpleChannelInboundHandler<HttpObject> {
  private static final Logger log = LoggerFactory.getLogger(OpsRequests.class);

  private static final String JSON = "application/json";
  private static final String TEXT = "text/plain; charset=utf-8";

  /** The Prometheus text format, version 0.0.4. */
  private static final String METRICS = "text/plain; version=0.0.4; charset=utf-8";

  private final Supplier<Health> health;
  private final Supplier<String> metrics;

  OpsRequests(Supplier<Health> health, Supplier<String> metrics) {
    this.health = health;
    this.metrics = metrics;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
    if (message.decoderResult().isFailure()) {
      send(context, answer(HttpResponseStatus.BAD_REQUEST, TEXT, "bad request\n"), false, false);
    } else if (message instanceof HttpRequest request) {
      boolean keep = HttpUtil.isKeepAlive(request) && !hasBody(request);
      boolean head = request.method().equals(HttpMethod.HEAD);
      send(context, answer(request), head, keep);
    } else if (!(message instanceof LastHttpContent)) {
      var unused = context.close(); // a body nobody asked for
    }
  }

  private static boolean hasBody(HttpRequest request) {
    return HttpUtil.isTransferEncodingChunked(request)
        || HttpUtil.getContentLength(request, 0L) > 0;
  }

  private FullHttpResponse answer(HttpRequest request) {
    String path = request.uri();
    int query = path.indexOf('?');
    if (query >= 0) {
      path = path.substring(0, query);
    }
    boolean known = path.equals("/livez") || path.equals("/readyz") || path.equals("/metrics");
    if (!known) {
      return answer(HttpResponseStatus.NOT_FOUND, TEXT, "no such page\n");
    }
    if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
      FullHttpResponse refusal =
          answer(HttpResponseStatus.METHOD_NOT_ALLOWED, TEXT, "only GET and HEAD\n");
      refusal.headers().set(HttpHeaderNames.ALLOW, "GET, HEAD");
      return refusal;
    }
    try {
      return switch (path) {
        case "/livez" -> answer(HttpResponseStatus.OK, TEXT, "alive\n");
        case "/readyz" -> ready(health.get());
        default -> answer(HttpResponseStatus.OK, METRICS, metrics.get());
      };
    } catch (RuntimeException e) {
      log.warn("{} failed", path, e);
      return answer(HttpResponseStatus.INTERNAL_SERVER_ERROR, TEXT, "failed, see the log\n");
    }
  }

  private static FullHttpResponse ready(Health health) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("ready", health.ready());
    health.causes().forEach(json.putArray("causes")::add);
    health.warnings().forEach(json.putArray("warnings")::add);
    return answer(
        health.ready() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE,
        JSON,
        json + "\n");
  }

  private static FullHttpResponse answer(HttpResponseStatus status, String type, String body) {
    ByteBuf content = Unpooled.wrappedBuffer(body.getBytes(StandardCharsets.UTF_8));
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, content);
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
    response.headers().set(HttpHeaderNames.CACHE_CONTROL, "no-store");
    response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
    return response;
  }

  private static void send(
      ChannelHandlerContext context, FullHttpResponse response, boolean head, boolean keep) {
    if (head) {
      response.content().clear(); // the length in the head stays
    }
    if (!keep) {
      response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
    ChannelFuture sent = context.writeAndFlush(response);
    if (!keep) {
      sent = sent.addListener(ChannelFutureListener.CLOSE);
    }
    if (sent.cause() != null) {
      log.debug("An answer was not sent", sent.cause());
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    log.debug("An operations connection broke", cause);
    var unused = context.close();
  }
}
