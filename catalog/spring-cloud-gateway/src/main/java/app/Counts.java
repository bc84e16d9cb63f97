package app;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

/** Requests passed on and connections opened, for each upstream. */
@Configuration(proxyBeanMethods = false)
class Counts {
  /** What was counted for one upstream. */
  private static class Count {
    final LongAdder requests = new LongAdder();
    final LongAdder connections = new LongAdder();

    Map<String, Object> with(String address) {
      return Map.of("address", address, "requests", requests.sum(), "connections", connections.sum());
    }
  }

  private final Map<String, Count> counts = new ConcurrentHashMap<>();

  private Count of(String host, int port) {
    return counts.computeIfAbsent(host + ":" + port, address -> new Count());
  }

  /** After the load balancer (10150) has chosen, and before the request goes out. */
  @Bean
  @Order(10200)
  GlobalFilter countRequests() {
    return (exchange, chain) -> {
      URI to = exchange.getRequiredAttribute(ServerWebExchangeUtils.GATEWAY_REQUEST_URL_ATTR);
      of(to.getHost(), to.getPort()).requests.increment();
      return chain.filter(exchange);
    };
  }

  @Bean
  HttpClientCustomizer countConnections() {
    return client ->
        client.doOnChannelInit(
            (observer, channel, address) -> {
              if (address instanceof InetSocketAddress to) {
                of(to.getHostString(), to.getPort()).connections.increment();
              }
            });
  }

  @Bean
  RouterFunction<ServerResponse> status() {
    return RouterFunctions.route()
        .GET(
            "/.prony/status",
            request -> ServerResponse.ok().contentType(MediaType.APPLICATION_JSON).bodyValue(Map.of("upstreams", all())))
        .build();
  }

  private List<Map<String, Object>> all() {
    return counts.entrySet().stream()
        .sorted(Comparator.comparing(Map.Entry::getKey))
        .map(e -> e.getValue().with(e.getKey()))
        .toList();
  }
}
