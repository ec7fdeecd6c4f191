import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A mail server that accepts all emails, and reports their recipients. */
final class Mailbox {
  private final ServerSocket server;
  private final BlockingQueue<String> recipients = new LinkedBlockingQueue<>();

  Mailbox() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(() -> {
      while (true) {
        Socket caller = server.accept();
        start(() -> listen(caller));
      }
    });
  }

  String port() {
    return String.valueOf(server.getLocalPort());
  }

  /** Returns the recipient of the next email, or null if none arrives within 30 seconds. */
  String next() throws InterruptedException {
    return recipients.poll(30, TimeUnit.SECONDS);
  }

  private void listen(Socket caller) throws IOException {
    try (caller; var in = new BufferedReader(new InputStreamReader(caller.getInputStream()));
        var out = new PrintWriter(caller.getOutputStream(), true)) {
      out.print("220 tour\r\n");
      out.flush();
      boolean body = false;
      String recipient = null;
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (body && !line.equals(".")) continue;
        if (body) recipients.add(recipient);
        body = line.equals("DATA");
        if (line.startsWith("RCPT TO:")) recipient = line.replaceAll(".*<(.*)>.*", "$1");
        out.print(body ? "354 Continue\r\n" : line.equals("QUIT") ? "221 bye\r\n" : "250 OK\r\n");
        out.flush();
      }
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void start(Work work) {
    Thread thread = new Thread(() -> {
      try {
        work.run();
      } catch (IOException error) {
        // The client has closed the connection.
      }
    });
    thread.setDaemon(true);
    thread.start();
  }
}
