package app;

import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.embedded.tomcat.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.cloud.netflix.zuul.EnableZuulProxy;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
@EnableZuulProxy
public class Main {
  public static void main(String[] args) {
    SpringApplication.run(Main.class, args);
  }

  /** This Boot has no property for it. */
  @Bean
  WebServerFactoryCustomizer<TomcatServletWebServerFactory> clientRequests(
      @Value("${app.client-requests:100}") int requests) {
    return factory ->
        factory.addConnectorCustomizers(
            connector ->
                ((AbstractHttp11Protocol<?>) connector.getProtocolHandler()).setMaxKeepAliveRequests(requests));
  }
}
