// Publishes a document, prints its receipt, asks a question, prints the answer: node ask.mjs TENANT "QUESTION"
// Written from schemas/generated/asyncapi.json and the JSON Schemas beside it; nothing of rankstream is imported.
import { randomUUID } from "node:crypto";
import { Kafka, logLevel } from "kafkajs";

const [tenant = "acme", text = "what does a locker key cost?"] = process.argv.slice(2);
const WITHIN = 30_000; // milliseconds until a receipt or an answer must be there

const brokers = (process.env.KAFKA_BOOTSTRAP_SERVERS ?? "localhost:9092").split(",");
const kafka = new Kafka({ clientId: "rankstream-example", brokers, logLevel: logLevel.ERROR });
const [producer, admin] = [kafka.producer(), kafka.admin()];
const consumer = kafka.consumer({ groupId: `rankstream-example-${randomUUID()}` }); // of its own: it reads everything
const waiting = new Map(); // what somebody waits for, by name

function awaited(name) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name}: nothing came`)), WITHIN);
    waiting.set(name, (message) => (clearTimeout(timer), waiting.delete(name), resolve(message)));
  });
}

async function eachMessage({ topic, message }) {
  const body = JSON.parse(message.value.toString());
  if (topic === "replies" && body.final) waiting.get(`answer ${message.headers.kafka_correlationId}`)?.(body);
  if (topic === "document-status") waiting.get(`receipt ${body.tenant}/${body.source}/${body.doc_id}/${body.version}`)?.(body);
}

async function publish(change) {
  const { tenant, source, doc_id, version } = change;
  const receipt = awaited(`receipt ${tenant}/${source}/${doc_id}/${version}`);
  const key = [tenant, source, doc_id].map((part) => `${[...part].length}:${part}`).join("");
  await producer.send({ topic: "document-changes", messages: [{ key, value: JSON.stringify(change) }] });
  return receipt;
}

async function ask(question, partitions) {
  const answer = awaited(`answer ${question.query_id}`);
  const partition = Buffer.alloc(4);
  partition.writeInt32BE(Math.floor(Math.random() * partitions));
  const headers = { kafka_correlationId: question.query_id, kafka_replyTopic: "replies", kafka_replyPartition: partition };
  await producer.send({ topic: "queries", messages: [{ key: question.query_id, value: JSON.stringify(question), headers }] });
  return answer;
}

try {
  await Promise.all([producer.connect(), consumer.connect(), admin.connect()]);
  const topics = ["replies", "document-status"];
  const ends = await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)));
  await consumer.subscribe({ topics });
  await consumer.run({ eachMessage });
  // From where the topics end now: an answer that comes while the consumer still gets ready is not missed.
  topics.forEach((topic, n) => ends[n].forEach(({ partition, high: offset }) => consumer.seek({ topic, partition, offset })));
  const change = { name: "DocumentChange", tenant, source: "node", doc_id: "lockers", version: Date.now() };
  const receipt = await publish({ ...change, title: "Lockers", content: "A locker key costs five euro." });
  console.log(`receipt: ${receipt.doc_id} version ${receipt.version} is ${receipt.status} (${receipt.chunks} chunks)`);
  const deadline = Date.now() / 1000 + 10;
  const reply = await ask({ name: "QueryRequest", version: 1, query_id: randomUUID(), tenant, text, top_k: 3, deadline }, ends[0].length);
  if (reply.error) throw new Error(`${reply.error.class}: ${reply.error.message}`);
  console.log(`answer after ${reply.milliseconds.total} ms, ${reply.degraded ? `degraded: ${reply.reasons}` : "all legs ran"}`);
  for (const { score, title, text } of reply.passages) console.log(score.toFixed(2), title, "-", text.replaceAll(/\s+/g, " "));
} finally {
  await Promise.allSettled([producer.disconnect(), consumer.disconnect(), admin.disconnect()]);
}
