package app;

import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The requests that Tomcat itself has counted. */
@RestController
class Status {
  private final MBeanServer beans = ManagementFactory.getPlatformMBeanServer();

  @GetMapping("/.prony/status")
  Map<String, Long> status() throws JMException {
    long requests = 0;
    for (ObjectName name : beans.queryNames(new ObjectName("Tomcat:type=GlobalRequestProcessor,*"), null)) {
      requests += ((Number) beans.getAttribute(name, "requestCount")).longValue();
    }
    return Collections.singletonMap("requests", requests);
  }
}
