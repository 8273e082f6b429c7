/* Sends requests to a server at a steady rate, whether or not it keeps up, and measures how long
 * the replies take.
 *
 *   load PORT CONNECTIONS SECONDS RATE
 *
 * Half of the requests are SET and half GET, each of a random one of 100,000 keys, all of which
 * must have the value xyz before; the connections take turns. The time of a reply counts from the
 * moment at which its request was due, not from when it was sent. So a server that stops for a
 * moment delays all that was due in that moment, as it does for clients that know nothing of each
 * other (Gil Tene calls the mistake of not counting that coordinated omission).
 *
 * With a RATE of 0, each connection sends its next request when it has the reply: that finds the
 * throughput.
 *
 * Prints: requests per second, and the 50th, 90th, 99th and 99.9th percentile and the maximum in
 * microseconds.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* LEAD_IN: nanoseconds before the first request whose reply counts. */
enum { KEYS = 100000, PENDING = 1 << 14, REQUEST = 128, LEAD_IN = 500000000 };

struct request {
  uint64_t due : 63;
  uint64_t is_get : 1;
};

/* A connection: the requests that are not answered, and what is not written yet. */
struct connection {
  int descriptor;
  struct request pending[PENDING];
  uint32_t first, count;
  char *output;
  size_t written, filled, room;
  /* How many bytes of a value and its line end are still to come; the line so far otherwise. */
  size_t missing;
  char line[64];
  size_t length;
};

static uint64_t *samples;
static size_t sample_count, sample_room;
static uint64_t measured_from, replies;

static void stop(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled".
 */
static uint64_t next_random(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 2685821657736338717u;
}

static void flush(struct connection *connection) {
  while (connection->written < connection->filled) {
    const ssize_t count = send(connection->descriptor, connection->output + connection->written,
                               connection->filled - connection->written, MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) stop("send");
    connection->written += (size_t)count;
  }
  connection->written = connection->filled = 0;
}

static void request(struct connection *connection, uint64_t due) {
  if (connection->count == PENDING) {
    fprintf(stderr, "load: %d requests of one connection wait: the server is too slow.\n", PENDING);
    exit(1);
  }
  const uint64_t random = next_random();
  const unsigned key = (unsigned)(random % KEYS);
  const bool is_get = !((random >> 40) & 1);
  connection->pending[(connection->first + connection->count++) % PENDING] =
      (struct request){.due = due, .is_get = is_get};
  if (connection->room < connection->filled + REQUEST) {
    connection->room = 2 * connection->room + REQUEST;
    connection->output = realloc(connection->output, connection->room);
    if (!connection->output) stop("realloc");
  }
  char *output = connection->output + connection->filled;
  connection->filled +=
      (size_t)(is_get ? snprintf(output, REQUEST, "*2\r\n$3\r\nGET\r\n$10\r\nkey:%06u\r\n", key)
                      : snprintf(output, REQUEST,
                                 "*3\r\n$3\r\nSET\r\n$10\r\nkey:%06u\r\n$3\r\nxyz\r\n", key));
}

/* Notes that the reply is there whose first line, or whose value, is in `line`. */
static void note_reply(struct connection *connection, uint64_t time) {
  if (connection->count == 0) {
    fprintf(stderr, "load: a reply to no request.\n");
    exit(1);
  }
  const struct request request = connection->pending[connection->first];
  if (strcmp(connection->line, request.is_get ? "xyz" : "+OK") != 0) {
    fprintf(stderr, "load: %s gets the reply %s\n", request.is_get ? "GET" : "SET",
            connection->line);
    exit(1);
  }
  connection->first = (connection->first + 1) % PENDING;
  connection->count--;
  if (request.due < measured_from) return;
  replies++;
  if (sample_count == sample_room) {
    fprintf(stderr, "load: more replies than there is room for.\n");
    exit(1);
  }
  samples[sample_count++] = time - request.due;
}

static void append(struct connection *connection, char byte) {
  if (connection->length + 1 < sizeof connection->line)
    connection->line[connection->length++] = byte;
}

/* Takes the replies out of what was received. Returns how many they were. */
static unsigned parse(struct connection *connection, const char *bytes, size_t count,
                      uint64_t time) {
  unsigned found = 0;
  for (size_t index = 0; index < count; index++) {
    if (connection->missing > 0) {
      /* The end of the line is no part of the value. */
      if (connection->missing > 2) append(connection, bytes[index]);
      if (--connection->missing > 0) continue;
    } else if (bytes[index] != '\n') {
      if (bytes[index] != '\r') append(connection, bytes[index]);
      continue;
    } else if (connection->line[0] == '$' && connection->line[1] != '-') {
      connection->line[connection->length] = 0;
      connection->missing = strtoul(connection->line + 1, NULL, 10) + 2;
      connection->length = 0;
      continue;
    }
    connection->line[connection->length] = 0;
    connection->length = 0;
    note_reply(connection, time);
    found++;
  }
  return found;
}

static int compare(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

int main(int argument_count, char **arguments) {
  if (argument_count != 5) {
    fprintf(stderr, "usage: load PORT CONNECTIONS SECONDS RATE\n");
    return 2;
  }
  const int count = atoi(arguments[2]);
  const double seconds = atof(arguments[3]), rate = atof(arguments[4]);
  struct connection *connections = calloc((size_t)count, sizeof *connections);
  sample_room = 20000000;
  samples = malloc(sample_room * sizeof *samples);
  const int poller = epoll_create1(0);
  if (!connections || !samples || poller < 0) stop("start");
  /* Otherwise each sleep is up to 50 microseconds too long. */
  prctl(PR_SET_TIMERSLACK, 1);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(arguments[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int index = 0; index < count; index++) {
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0)
      stop("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[index]};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0) stop("epoll_ctl");
    connections[index].descriptor = descriptor;
  }
  const uint64_t start = now(), interval = rate > 0 ? (uint64_t)(1e9 / rate) : 0;
  measured_from = start + LEAD_IN;
  const uint64_t end = measured_from + (uint64_t)(seconds * 1e9);
  uint64_t due = start, waiting = 0;
  int turn = 0;
  if (!interval) {
    for (int index = 0; index < count; index++) {
      request(&connections[index], now());
      flush(&connections[index]);
      waiting++;
    }
  }
  static char bytes[1 << 16];
  for (;;) {
    uint64_t time = now();
    /* What is due before the end is sent, also if this process was stopped until after the end. */
    for (; interval && due <= time && due < end; due += interval) {
      request(&connections[turn], due);
      flush(&connections[turn]);
      turn = (turn + 1) % count;
      waiting++;
    }
    const bool is_over = interval ? due >= end : time >= end;
    if (is_over && (waiting == 0 || time > end + 5000000000u)) break;
    struct epoll_event events[256];
    const uint64_t pause =
        interval && !is_over ? (due > (time = now()) ? due - time : 0) : 100000000;
    const struct timespec timeout = {.tv_sec = 0,
                                     .tv_nsec = (long)(pause < 999999999 ? pause : 999999999)};
    const int ready = epoll_pwait2(poller, events, 256, &timeout, NULL);
    if (ready < 0 && errno != EINTR) stop("epoll_pwait2");
    for (int index = 0; index < ready; index++) {
      struct connection *connection = events[index].data.ptr;
      for (;;) {
        const ssize_t received = recv(connection->descriptor, bytes, sizeof bytes, 0);
        if (received < 0 && errno == EAGAIN) break;
        if (received <= 0) stop("the server has closed a connection");
        time = now();
        const unsigned found = parse(connection, bytes, (size_t)received, time);
        waiting -= found;
        for (unsigned reply = 0; !interval && reply < found && time < end; reply++) {
          request(connection, time);
          waiting++;
        }
        if ((size_t)received < sizeof bytes) break;
      }
      flush(connection);
    }
  }
  if (waiting != 0 || sample_count == 0) {
    fprintf(stderr, "load: %lu requests had no reply.\n", (unsigned long)waiting);
    return 1;
  }
  qsort(samples, sample_count, sizeof *samples, compare);
  printf("%.0f", (double)replies / seconds);
  const double shares[] = {0.5, 0.9, 0.99, 0.999};
  for (int index = 0; index < 4; index++)
    printf(" %.1f", (double)samples[(size_t)((double)(sample_count - 1) * shares[index])] / 1e3);
  printf(" %.1f\n", (double)samples[sample_count - 1] / 1e3);
  return 0;
}
