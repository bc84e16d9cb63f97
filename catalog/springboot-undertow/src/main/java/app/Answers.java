package app;

import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/** The same answer on either stack. */
@Configuration(proxyBeanMethods = false)
class Answers {
  private static final String HELLO = "Hello World!";

  @Bean
  @ConditionalOnWebApplication(type = Type.REACTIVE)
  RouterFunction<ServerResponse> reactive() {
    return RouterFunctions.route().GET("/", Answers::reactively).GET("/hello", Answers::reactively).build();
  }

  private static Mono<ServerResponse> reactively(ServerRequest request) {
    return ServerResponse.ok().contentType(MediaType.TEXT_PLAIN).bodyValue(HELLO);
  }

  /** In a class of its own, since its types have the same names. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = Type.SERVLET)
  static class Servlets {
    @Bean
    org.springframework.web.servlet.function.RouterFunction<org.springframework.web.servlet.function.ServerResponse>
        servlet() {
      return org.springframework.web.servlet.function.RouterFunctions.route()
          .GET("/", Servlets::answer)
          .GET("/hello", Servlets::answer)
          .build();
    }

    private static org.springframework.web.servlet.function.ServerResponse answer(
        org.springframework.web.servlet.function.ServerRequest request) {
      return org.springframework.web.servlet.function.ServerResponse.ok().contentType(MediaType.TEXT_PLAIN).body(HELLO);
    }
  }
}
