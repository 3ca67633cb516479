import { createServer } from 'node:http'

/** Listens on loopback. `handler` is a Node.js request listener. */
export const listen = async (handler) => {
  const server = createServer(handler)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}` }
}

/** Serves a handler of web requests. */
export const listenWeb = (handle) =>
  listen(async (incoming, outgoing) => {
    const chunks = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method, headers, url } = incoming
    const response = await handle(`http://${headers.host}${url}`, {
      method,
      headers,
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    })
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  })
