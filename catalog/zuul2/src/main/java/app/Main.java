package app;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.EurekaInstanceConfig;
import com.netflix.appinfo.MyDataCenterInstanceConfig;
import com.netflix.appinfo.providers.EurekaConfigBasedInstanceInfoProvider;
import com.netflix.config.ConfigurationManager;
import com.netflix.netty.common.accesslog.AccessLogPublisher;
import com.netflix.netty.common.channel.config.ChannelConfig;
import com.netflix.netty.common.channel.config.CommonChannelConfigKeys;
import com.netflix.netty.common.metrics.EventLoopGroupMetrics;
import com.netflix.netty.common.status.ServerStatusManager;
import com.netflix.spectator.api.DefaultRegistry;
import com.netflix.spectator.api.Registry;
import com.netflix.zuul.BasicRequestCompleteHandler;
import com.netflix.zuul.FilterLoader;
import com.netflix.zuul.StaticFilterLoader;
import com.netflix.zuul.context.SessionContextDecorator;
import com.netflix.zuul.context.ZuulSessionContextDecorator;
import com.netflix.zuul.filters.ZuulFilter;
import com.netflix.zuul.filters.common.GZipResponseFilter;
import com.netflix.zuul.netty.server.BaseServerStartup;
import com.netflix.zuul.netty.server.DefaultEventLoopConfig;
import com.netflix.zuul.netty.server.DirectMemoryMonitor;
import com.netflix.zuul.netty.server.NamedSocketAddress;
import com.netflix.zuul.netty.server.Server;
import com.netflix.zuul.netty.server.ZuulServerChannelInitializer;
import com.netflix.zuul.origins.BasicNettyOriginManager;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import java.io.Reader;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

/** Zuul on Netty in front of the servers that its properties list, without a registry. */
public class Main {
  private Main() {}

  /** Takes the file with the properties. */
  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    try (Reader file = Files.newBufferedReader(Path.of(args[0]))) {
      settings.load(file);
    }
    ConfigurationManager.loadProperties(settings);
    InetSocketAddress listen =
        new InetSocketAddress(settings.getProperty("app.host"), Integer.parseInt(settings.getProperty("app.port")));

    Registry registry = new DefaultRegistry();
    Startup startup = new Startup(registry, listen);
    startup.init();
    Server server = startup.server();
    server.start();
    server.awaitTermination();
  }

  /** The filters, made with what they need. */
  private static FilterLoader filters(Registry registry) {
    return new StaticFilterLoader(
        type -> type == Status.class ? new Status(registry) : (ZuulFilter<?, ?>) type.getConstructor().newInstance(),
        Set.of(Routes.class, Status.class, GZipResponseFilter.class));
  }

  private static ApplicationInfoManager instance() {
    EurekaInstanceConfig config = new MyDataCenterInstanceConfig();
    return new ApplicationInfoManager(config, new EurekaConfigBasedInstanceInfoProvider(config).get());
  }

  /** One plain HTTP listener. */
  private static class Startup extends BaseServerStartup {
    private final InetSocketAddress listen;

    Startup(Registry registry, InetSocketAddress listen) {
      this(registry, listen, instance());
    }

    private Startup(Registry registry, InetSocketAddress listen, ApplicationInfoManager instance) {
      super(
          new ServerStatusManager(instance),
          filters(registry),
          decorator(registry),
          (filter, status) ->
              registry.counter("zuul.filter", "filter", filter.filterName(), "status", status.name()).increment(),
          new BasicRequestCompleteHandler(),
          registry,
          new DirectMemoryMonitor(registry),
          new EventLoopGroupMetrics(registry),
          new DefaultEventLoopConfig(),
          null,
          instance,
          new AccessLogPublisher("ACCESS", (channel, request) -> ""));
      this.listen = listen;
    }

    private static SessionContextDecorator decorator(Registry registry) {
      return new ZuulSessionContextDecorator(new BasicNettyOriginManager(registry));
    }

    @Override
    protected Map<NamedSocketAddress, ChannelInitializer<?>> chooseAddrsAndChannels(ChannelGroup clients) {
      ChannelConfig config = defaultChannelConfig("main");
      config.set(CommonChannelConfigKeys.withProxyProtocol, false);
      config.set(CommonChannelConfigKeys.isSSlFromIntermediary, false);
      return Map.of(
          new NamedSocketAddress("main", listen),
          new ZuulServerChannelInitializer("main", config, defaultChannelDependencies("main"), clients));
    }
  }
}
