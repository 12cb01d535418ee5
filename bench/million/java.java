// SPDX-License-Identifier: BSD-3-Clause
// Java's virtual threads (version 21 and later), on one processor, by the method of
// million_bench.hpp. `sinew bench million` has `java` run this source, if there is one that can.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

class Crowd {
  static double residentBytes() throws IOException {
    String[] words = Files.readString(Path.of("/proc/self/statm")).split(" ");
    return Double.parseDouble(words[1]) * 4096;
  }

  static void round(int count, boolean tell) throws Exception {
    CountDownLatch waiting = new CountDownLatch(count);
    CountDownLatch gate = new CountDownLatch(1);
    Thread[] all = new Thread[count];
    System.gc();
    double before = residentBytes();
    long begin = System.nanoTime();
    for (int i = 0; i < count; ++i) {
      all[i] = Thread.startVirtualThread(() -> {
        waiting.countDown();
        try {
          gate.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      });
    }
    waiting.await();
    long spawn = System.nanoTime() - begin;
    double grown = residentBytes() - before;
    begin = System.nanoTime();
    gate.countDown();
    for (Thread each : all) {
      each.join();
    }
    long end = System.nanoTime() - begin;
    if (tell) {
      row("crowd-spawn latency ns", count, (double) spawn / count);
      row("crowd-end latency ns", count, (double) end / count);
      row("crowd memory B/thread", count, grown / count);
    }
  }

  static void row(String what, int count, double value) {
    System.out.printf("@ %s threads=%d %s%n", what, count, value);
  }

  public static void main(String[] words) throws Exception {
    int count = 10000;
    for (String word : words) {
      if (word.startsWith("threads=")) {
        count = Integer.parseInt(word.substring("threads=".length()));
      }
    }
    System.out.println("@version " + System.getProperty("java.version"));
    round(1000, false); // what it compiles at first is not a thread's
    round(count, true);
  }
}
