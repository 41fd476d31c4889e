# SPDX-License-Identifier: Apache-2.0
"""The stock Java clients from Python: one JVM running java/Driver.java, spoken to in lines of JSON.

    java = JavaDriver(home, directory)
    producer = java.producer(cluster, "group")
    receipt = producer.send(topic, b"body", tag="TagA", keys="k1")
    consumer = java.push_consumer(cluster, "group", topic, "TagA || TagB")
    first = consumer.wait(1)[0]

A call raises JavaError with the response code that Java's exception carried. Push consumers collect
what they receive in `received`. `close_clients` shuts down every client that is still open.
"""

from __future__ import annotations

import base64
import itertools
import json
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from .java_home import JavaHome
from .java_messages import Pulled, Queue, Receipt, Received, RemoteAnswer, message
from .servers import Cluster, until

CALL_LIMIT_S = 60
QUERY_CONSUMER_OFFSET = 14
QUERY_NOT_FOUND = 22
# Java asks the name server for changed routes every 30 s; a test has no time for this.
QUICK: dict[str, object] = {"pollNameServerInterval": 1000, "persistConsumerOffsetInterval": 500}


class JavaError(Exception):
    """What the Java client threw; `code` is the response code of the server, if it answered."""

    def __init__(self, kind: str, message: str, code: int | None) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message
        self.code = code


Client = TypeVar("Client", bound="JavaClient")


class JavaDriver:
    """One JVM with any number of clients."""

    def __init__(
        self, java: JavaHome, directory: Path, properties: Mapping[str, str] | None = None
    ) -> None:
        offsets = {"rocketmq.client.localOffsetStoreDir": str(directory / "offsets")}
        command = java.command(
            "Driver", home=directory, heap="384m", properties=offsets | dict(properties or {})
        )
        self._log = (directory / "driver.err").open("ab")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, cwd=directory
        )
        self._ids = itertools.count(1)
        self._names = itertools.count(1)
        self._answers: dict[int, Future[Any]] = {}
        self._listeners: dict[str, Callable[[Received], None]] = {}
        self._open: dict[str, JavaClient] = {}
        self._kept: dict[tuple[int, str], Any] = {}
        self._writing = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    # ---- the line protocol ----

    def ask(self, command: str, **fields: object) -> Any:
        return self.begin(command, **fields).result(CALL_LIMIT_S)

    def begin(self, command: str, **fields: object) -> Future[Any]:
        """Start a command and leave it running."""
        number = next(self._ids)
        answer: Future[Any] = Future()
        self._answers[number] = answer
        line = json.dumps({"id": number, "do": command} | fields).encode() + b"\n"
        assert self._process.stdin is not None
        with self._writing:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        return answer

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._take(json.loads(line))
        finally:
            for answer in list(self._answers.values()):
                answer.set_exception(ConnectionError("the driver has ended"))

    def _take(self, said: dict[str, Any]) -> None:
        if "event" in said:
            self._listeners[said["event"]](Received.of(said["message"]))
            return
        answer = self._answers.pop(said["id"])
        error = said.get("error")
        if error is None:
            answer.set_result(said["answer"])
        else:
            answer.set_exception(JavaError(error["kind"], error["message"], error["code"]))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._kept.clear()
        self._process.stdin.close()
        self._process.wait(30)
        self._log.close()

    def kill(self) -> None:
        """kill -9: no client says good-bye."""
        self._process.kill()
        self._process.wait()
        self._open.clear()
        self._kept.clear()

    def close_clients(self) -> None:
        """Send every client away, without waiting the 3 s that their threads take to end."""
        for client in list(self._open.values()):
            client.leave()

    # ---- clients ----

    def opened(
        self, kind: str, cluster: Cluster, group: str, settings: Mapping[str, object]
    ) -> str:
        name = f"{kind}{next(self._names)}"
        self.ask(
            "open",
            name=name,
            kind=kind,
            group=group,
            nameserver=cluster.nameserver,
            settings=QUICK | dict(settings),
        )
        return name

    def producer(self, cluster: Cluster, group: str, **settings: object) -> JavaProducer:
        producer = JavaProducer(self, self.opened("producer", cluster, group, settings))
        producer.call("start")
        return producer

    def push_consumer(
        self,
        cluster: Cluster,
        group: str,
        topic: str,
        expression: str = "*",
        *,
        sql: bool = False,
        orderly: bool = False,
        behaviour: Mapping[str, object] | None = None,
        **settings: object,
    ) -> JavaPushConsumer:
        """A started push consumer; unless told otherwise it starts at the beginning."""
        beginning = {"consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET"}
        consumer = JavaPushConsumer(self, self.opened("push", cluster, group, beginning | settings))
        self._listeners[consumer.name] = consumer.add
        subscription = {"topic": topic, "expression": expression, "sql": sql}
        self.ask(
            "listen",
            on=consumer.name,
            subscriptions=[subscription],
            orderly=orderly,
            behaviour=behaviour or {},
        )
        return consumer

    def pull_consumer(self, cluster: Cluster, group: str, **settings: object) -> JavaPullConsumer:
        consumer = JavaPullConsumer(self, self.opened("pull", cluster, group, settings))
        consumer.call("start")
        return consumer

    def lite_consumer(self, cluster: Cluster, group: str, **settings: object) -> JavaLiteConsumer:
        """A started lite pull consumer without topics: `subscribe` or `assign` comes next."""
        beginning = {"consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET"}
        consumer = JavaLiteConsumer(self, self.opened("lite", cluster, group, beginning | settings))
        consumer.call("start")
        return consumer

    # One of these per cluster serves every test, until the cluster stops.

    def admin(self, cluster: Cluster) -> JavaClient:
        return self._shared(cluster, "admin", JavaClient, "")

    def sender(self, cluster: Cluster) -> JavaProducer:
        """A producer for tests that are about something else."""
        return self._shared(cluster, "producer", JavaProducer, "G-sender")

    def reader(self, cluster: Cluster) -> JavaPullConsumer:
        """A pull consumer for looking at what is stored."""
        return self._shared(cluster, "pull", JavaPullConsumer, "G-reader", enableRebalance=False)

    def _shared(
        self, cluster: Cluster, kind: str, of: type[Client], group: str, **settings: object
    ) -> Client:
        key = (id(cluster), kind)
        if key not in self._kept:
            client = of(self, self.opened(kind, cluster, group, settings))
            client.call("start")
            self.forget(client)  # close_clients is not to close it.
            self._kept[key] = client
            cluster.before_stop.append(lambda: self._release(key))
        kept: Client = self._kept[key]
        return kept

    def _release(self, key: tuple[int, str]) -> None:
        if key in self._kept:
            self._kept.pop(key).leave()

    def adopt(self, client: JavaClient) -> None:
        self._open[client.name] = client

    def forget(self, client: JavaClient) -> None:
        self._open.pop(client.name, None)

    # ---- without a client ----

    def mqadmin(self, *args: str) -> str:
        printed: str = self.ask("mqadmin", args=args)
        return printed

    def remote(
        self,
        address: str,
        code: int,
        fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        encoding: str = "JSON",
    ) -> RemoteAnswer:
        said = self.ask(
            "remote",
            address=address,
            code=code,
            fields=dict(fields or {}),
            body=base64.b64encode(body).decode(),
            encoding=encoding,
        )
        return RemoteAnswer(**said | {"body": base64.b64decode(said["body"])})

    def committed(self, cluster: Cluster, group: str, queue: Queue) -> int:
        """The offset that the broker holds for the group, or -1."""
        fields = {
            "consumerGroup": group,
            "topic": queue.topic,
            "queueId": str(queue.id),
            "setZeroIfNotFound": "false",
        }
        answer = self.remote(cluster.broker, QUERY_CONSUMER_OFFSET, fields)
        assert answer.code in (0, QUERY_NOT_FOUND), answer
        return int(answer.fields["offset"]) if answer.code == 0 else -1


class JavaClient:
    """Any client: a public method of it is `call(name, ...)`."""

    def __init__(self, driver: JavaDriver, name: str) -> None:
        self.driver = driver
        self.name = name
        driver.adopt(self)

    def call(self, method: str, *args: object) -> Any:
        return self.driver.ask("call", on=self.name, method=method, args=args)

    def leave(self) -> None:
        """Shut down, without waiting until the last of its threads has ended."""
        self.driver.forget(self)
        self.driver.begin("close", on=self.name)

    def close(self) -> None:
        self.driver.forget(self)
        self.driver.ask("close", on=self.name)


class JavaProducer(JavaClient):
    def send(self, topic: str, body: bytes, *, queue: Queue | None = None, **more: Any) -> Receipt:
        where = [] if queue is None else [queue.json()]
        return Receipt.of(self.call("send", message(topic, body, **more), *where))

    def send_many(self, topic: str, bodies: Iterable[bytes], **more: Any) -> list[Receipt]:
        """One send per body, several at a time; the receipts are in the order of the bodies."""
        begun = [
            self.driver.begin(
                "call", on=self.name, method="send", args=[message(topic, body, **more)]
            )
            for body in bodies
        ]
        return [Receipt.of(answer.result(CALL_LIMIT_S)) for answer in begun]

    def send_async(self, topic: str, body: bytes, **more: Any) -> Future[Any]:
        """The future's result is what the callback got, as `Receipt.of` takes it."""
        return self.driver.begin("sendAsync", on=self.name, message=message(topic, body, **more))

    def send_oneway(self, topic: str, body: bytes, **more: Any) -> None:
        self.call("sendOneway", message(topic, body, **more))

    def send_batch(self, messages: Sequence[Mapping[str, object]]) -> Receipt:
        return Receipt.of(self.call("send", list(messages)))

    def send_selected(self, topic: str, body: bytes, number: int, **more: Any) -> Receipt:
        """Ordered: a MessageQueueSelector that takes queue `number` modulo their count."""
        said = self.driver.ask(
            "sendSelected", on=self.name, message=message(topic, body, **more), number=number
        )
        return Receipt.of(said)

    def flood(self, topic: str, size: int = 200, threads: int = 4) -> None:
        """Send without pause until `flood_stop`, or until a send fails."""
        self.driver.ask("flood", on=self.name, topic=topic, size=size, threads=threads)

    def flood_count(self) -> int:
        count: int = self.driver.ask("floodCount", on=self.name)
        return count

    def flood_stop(self) -> dict[int, Receipt]:
        """The acknowledged messages by number; message n is `n:xxx...` with key `kn`."""
        said = self.driver.ask("floodStop", on=self.name)
        return {number: Receipt.of(receipt) for number, receipt in said["acknowledged"]}


class JavaPushConsumer(JavaClient):
    def __init__(self, driver: JavaDriver, name: str) -> None:
        super().__init__(driver, name)
        self.received: list[Received] = []

    def add(self, one: Received) -> None:
        self.received.append(one)

    @property
    def bodies(self) -> list[bytes]:
        return [one.body for one in self.received]

    def wait(self, count: int, limit_s: float = 30) -> list[Received]:
        """Wait until `count` messages are here and return all that are."""
        until(
            lambda: len(self.received) >= count,
            f"{count} messages received, {len(self.received)} at the start of the wait",
            limit_s,
        )
        return list(self.received)

    def persist(self) -> None:
        """Commit now: a Java client does so only 10 s after its start, then every few seconds."""
        self.driver.ask("persist", on=self.name)

    @property
    def assigned(self) -> set[Queue]:
        return {Queue.of(said) for said in self.driver.ask("assigned", on=self.name)}


class JavaPullConsumer(JavaClient):
    def queues(self, topic: str) -> list[Queue]:
        return sorted(Queue.of(said) for said in self.call("fetchSubscribeMessageQueues", topic))

    def pull(self, queue: Queue, offset: int, count: int = 32, expression: str = "*") -> Pulled:
        return Pulled.of(self.call("pull", queue.json(), expression, offset, count))

    def begin_pull_or_wait(self, queue: Queue, offset: int) -> Future[Any]:
        """A pull that the broker may hold; the result is what `Pulled.of` takes."""
        args = [queue.json(), "*", offset, 32]
        return self.driver.begin("call", on=self.name, method="pullBlockIfNotFound", args=args)

    def commit(self, cluster: Cluster, group: str, queue: Queue, offset: int) -> None:
        """Store the group's offset; insist, for a broker ignores a group it does not know."""
        self.call("updateConsumeOffset", queue.json(), offset)

        def stored() -> bool:
            self.call("persist", queue.json())
            return self.driver.committed(cluster, group, queue) == offset

        until(stored, f"offset {offset} is stored")

    def min_offset(self, queue: Queue) -> int:
        return int(self.call("minOffset", queue.json()))

    def max_offset(self, queue: Queue) -> int:
        return int(self.call("maxOffset", queue.json()))

    def offset_at(self, queue: Queue, time_ms: int) -> int:
        return int(self.call("searchOffset", queue.json(), time_ms))

    def read(self, topic: str, count: int) -> list[Received]:
        """What is in the topic, in the order of the log, once there are `count` messages."""
        found: list[Received] = []

        def there() -> bool:
            found[:] = self.read_all(topic)
            return len(found) >= count

        until(there, f"{count} messages in {topic}")
        return sorted(found, key=lambda one: one.log_offset)

    def read_all(self, topic: str) -> list[Received]:
        """Everything the topic holds at this moment, queue by queue."""
        found: list[Received] = []
        for queue in self.queues(topic):
            offset, end = self.min_offset(queue), self.max_offset(queue)
            while offset < end:
                page = self.pull(queue, offset)
                assert page.next > offset, page
                found += page.messages
                offset = page.next
        return found


class JavaLiteConsumer(JavaClient):
    def queues(self, topic: str) -> list[Queue]:
        return sorted(Queue.of(said) for said in self.call("fetchMessageQueues", topic))

    def subscribe(self, topic: str, expression: str = "*") -> None:
        self.call("subscribe", topic, expression)

    def assign(self, queues: Iterable[Queue]) -> None:
        self.call("assign", [queue.json() for queue in queues])

    def poll(self, wait_ms: int = 1000) -> list[Received]:
        return [Received.of(said) for said in self.call("poll", wait_ms)]

    def poll_until(self, count: int, limit_s: float = 20) -> list[Received]:
        found: list[Received] = []

        def enough() -> bool:
            found.extend(self.poll(500))
            return len(found) >= count

        until(enough, f"{count} messages polled", limit_s)
        return found

    def seek(self, queue: Queue, offset: int) -> None:
        self.call("seek", queue.json(), offset)

    def committed(self, queue: Queue) -> int:
        return int(self.call("committed", queue.json()))
