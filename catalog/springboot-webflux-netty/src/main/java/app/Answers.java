package app;

import io.netty.channel.ChannelOption;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.embedded.netty.NettyServerCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/** A router function, as in the published comparison of frameworks. */
@Configuration(proxyBeanMethods = false)
class Answers {
  @Bean
  RouterFunction<ServerResponse> routes() {
    return RouterFunctions.route().GET("/", Answers::hello).GET("/hello", Answers::hello).build();
  }

  private static Mono<ServerResponse> hello(ServerRequest request) {
    return ServerResponse.ok().contentType(MediaType.TEXT_PLAIN).bodyValue("Hello World!");
  }

  /** Boot has no property for the accept queue of this server. */
  @Bean
  NettyServerCustomizer acceptQueue(@Value("${app.accept-count:0}") int length) {
    return server -> length == 0 ? server : server.option(ChannelOption.SO_BACKLOG, length);
  }
}
