package app;

import com.netflix.appinfo.InstanceInfo;
import com.netflix.client.config.CommonClientConfigKey;
import com.netflix.client.config.IClientConfig;
import com.netflix.loadbalancer.AbstractServerList;
import com.netflix.niws.loadbalancer.DiscoveryEnabledServer;
import java.util.ArrayList;
import java.util.List;

/** The listed servers as Zuul wants them: as if a registry had named them. */
public class Servers extends AbstractServerList<DiscoveryEnabledServer> {
  private List<DiscoveryEnabledServer> servers = List.of();

  @Override
  public void initWithNiwsConfig(IClientConfig config) {
    List<DiscoveryEnabledServer> listed = new ArrayList<>();
    for (String address : config.get(CommonClientConfigKey.ListOfServers, "").split(",")) {
      int colon = address.lastIndexOf(':');
      String host = address.substring(0, colon).trim();
      InstanceInfo info =
          InstanceInfo.Builder.newBuilder()
              .setAppName("app")
              .setVIPAddress("app")
              .setInstanceId(address.trim())
              .setHostName(host)
              .setIPAddr(host)
              .setPort(Integer.parseInt(address.substring(colon + 1).trim()))
              .build();
      listed.add(new DiscoveryEnabledServer(info, false, true));
    }
    servers = List.copyOf(listed);
  }

  @Override
  public List<DiscoveryEnabledServer> getInitialListOfServers() {
    return servers;
  }

  @Override
  public List<DiscoveryEnabledServer> getUpdatedListOfServers() {
    return servers;
  }
}
