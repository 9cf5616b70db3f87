import java.net.URI;
import java.sql.DriverManager;

class Jdbc {
  public static void main(String[] arguments) throws Exception {
    var url = URI.create(System.getenv("URL"));
    var login = url.getUserInfo().split(":");
    var jdbc = "jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath()
      + "?sslmode=require&channelBinding=" + System.getenv("JDBC_BINDING") + "&options=endpoint%3Dep-x";
    var rows = DriverManager.getConnection(jdbc, login[0], login[1]).createStatement().executeQuery("select 6 * 7");
    rows.next();
    System.out.println(rows.getInt(1));
  }
}
