// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.model.NodeId;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.NodeConfig.Ports;
import io.sagitta.raft.DamageException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Who a data folder is: made once, kept in the folder, counted up with every start. The metadata
 * group registers it and compares: a folder that was wiped is another node, a folder that has gone
 * back shows by a start counter the cluster has already seen. Neither votes as its old self.
 *
 * @param id the node
 * @param cluster the cluster it belongs to, once it has one
 * @param boot starts of this folder, this one included
 * @param address where its peers know it
 * @param metaRaftPort Raft port of the metadata group, by which peers know it too
 * @param shardRaftPort Raft port of the shard groups
 */
public record NodeIdentity(
    NodeId id,
    Optional<UUID> cluster,
    long boot,
    HostPort address,
    int metaRaftPort,
    int shardRaftPort) {

  /**
   * Reads the folder's identity, or makes one, and counts the start. Durable on return.
   *
   * @param ids makes random ids
   * @throws DamageException where the file is damaged
   */
  static NodeIdentity start(DataFolder folder, NodeConfig config, Supplier<UUID> ids)
      throws IOException {
    Optional<byte[]> content = file(folder.root()).read();
    if (content.isEmpty() && folder.hasRaftState()) {
      throw new ConfigException(
          "data folder "
              + folder.root()
              + " holds data but no 'identity' file: it is damaged."
              + " Restore the file, or give the node an empty folder and a new address");
    }
    NodeIdentity now =
        content
            .map(bytes -> parse(folder.root(), bytes))
            .map(
                old ->
                    new NodeIdentity(
                        old.id,
                        old.cluster,
                        old.boot + 1,
                        old.address,
                        old.metaRaftPort,
                        old.shardRaftPort))
            .orElseGet(
                () ->
                    new NodeIdentity(
                        new NodeId(ids.get()),
                        Optional.empty(),
                        1,
                        config.internalAddress(),
                        config.ports().metaRaft(),
                        config.ports().shardRaft()));
    now.checkSame(folder.root(), config.internalAddress(), config.ports());
    now.write(folder);
    return now;
  }

  /**
   * Refuses a folder of a node that is known at another address, as a start on it would; changes
   * nothing. A folder without an identity may have any.
   *
   * @throws DamageException where the file is damaged
   */
  static void checkAddress(Path root, HostPort internal, Ports ports) throws IOException {
    Optional<byte[]> content = file(root).read();
    if (content.isPresent()) {
      parse(root, content.get()).checkSame(root, internal, ports);
    }
  }

  /** Peers and Raft configurations hold the address, so it does not change behind their backs. */
  private void checkSame(Path root, HostPort internal, Ports ports) {
    boolean same =
        address.equals(internal)
            && metaRaftPort == ports.metaRaft()
            && shardRaftPort == ports.shardRaft();
    if (!same) {
      throw new ConfigException(
          "data folder "
              + root
              + " belongs to a node known to its cluster as "
              + address
              + " (internal), Raft ports "
              + metaRaftPort
              + " and "
              + shardRaftPort
              + "; start it with these, not with "
              + internal
              + ", "
              + ports.metaRaft()
              + " and "
              + ports.shardRaft());
    }
  }

  /** The same, belonging to a cluster. Durable on return. */
  NodeIdentity join(DataFolder folder, UUID newCluster) throws IOException {
    NodeIdentity joined =
        new NodeIdentity(id, Optional.of(newCluster), boot, address, metaRaftPort, shardRaftPort);
    joined.write(folder);
    return joined;
  }

  private void write(DataFolder folder) throws IOException {
    StringBuilder text = new StringBuilder();
    text.append("node=").append(id).append('\n');
    cluster.ifPresent(c -> text.append("cluster=").append(c).append('\n'));
    text.append("boot=").append(boot).append('\n');
    text.append("host=").append(address.host()).append('\n');
    text.append("internal=").append(address.port()).append('\n');
    text.append("meta_raft=").append(metaRaftPort).append('\n');
    text.append("shard_raft=").append(shardRaftPort).append('\n');
    file(folder.root()).write(text.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static NodeIdentity parse(Path root, byte[] content) {
    Map<String, String> values = new LinkedHashMap<>();
    try {
      new String(content, StandardCharsets.UTF_8)
          .lines()
          .forEach(
              line ->
                  values.put(
                      line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1)));
      return new NodeIdentity(
          NodeId.parse(values.get("node")),
          Optional.ofNullable(values.get("cluster")).map(UUID::fromString),
          Long.parseLong(values.get("boot")),
          new HostPort(values.get("host"), Integer.parseInt(values.get("internal"))),
          Integer.parseInt(values.get("meta_raft")),
          Integer.parseInt(values.get("shard_raft")));
    } catch (RuntimeException e) {
      throw new ConfigException(file(root).path() + " is damaged: " + values, e);
    }
  }

  private static SmallFile file(Path root) {
    return new SmallFile(root.resolve("identity"), "SGNODEID", 1);
  }
}
