// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** The operations HTTP server. One thread: its answers are small and made without waiting. */
public final class OpsHttp implements AutoCloseable {
  /** Probes and scrapers need a handful; the rest is a mistake or an attack. */
  private static final int CONNECTIONS_MAX = 64;

  private static final int IDLE_SECONDS = 10;
  private static final int LINE_BYTES_MAX = 1_024;
  private static final int HEADER_BYTES_MAX = 8 << 10;

  private final EventLoopGroup loop;
  private final Channel channel;

  private OpsHttp(EventLoopGroup loop, Channel channel) {
    this.loop = loop;
    this.channel = channel;
  }

  /**
   * Opens the port.
   *
   * @param health asked for each {@code /readyz}; must not wait
   * @param metrics makes the page of {@code /metrics}; must not wait
   * @throws IOException when the port cannot be had
   */
  public static OpsHttp start(
      String host, int port, Supplier<Health> health, Supplier<String> metrics) throws IOException {
    EventLoopGroup loop =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("ops-http", true), NioIoHandler.newFactory());
    AtomicInteger connections = new AtomicInteger();
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(ChannelOption.SO_BACKLOG, CONNECTIONS_MAX)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel client) {
                    boolean tooMany = connections.incrementAndGet() > CONNECTIONS_MAX;
                    var unused =
                        client.closeFuture().addListener(closed -> connections.decrementAndGet());
                    if (tooMany) {
                      unused = client.close();
                      return;
                    }
                    client
                        .pipeline()
                        .addLast(new ReadTimeoutHandler(IDLE_SECONDS))
                        .addLast(
                            new HttpServerCodec(
                                new HttpDecoderConfig()
                                    .setMaxInitialLineLength(LINE_BYTES_MAX)
                                    .setMaxHeaderSize(HEADER_BYTES_MAX)))
                        .addLast(new OpsRequests(health, metrics));
                  }
                });
    var bound = bootstrap.bind(host, port).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
      throw new IOException(
          "port " + port + " on " + host + " cannot be had: " + bound.cause().getMessage(),
          bound.cause());
    }
    return new OpsHttp(loop, bound.channel());
  }

  /** The port it listens on. */
  public int port() {
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  @Override
  public void close() {
    channel.close().awaitUninterruptibly();
    loop.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
