import fastifyPlugin from 'fastify-plugin'

/** Every answer of a sandbox says so: the header `X-Sandbox`, and `sandbox: true` in JSON objects, errors included. */
export const sandboxMark = fastifyPlugin(
  (app, _options, done) => {
    app.addHook('onSend', async (request, reply, payload) => {
      reply.header('x-sandbox', 'true')
      // The OpenAPI document has no place for it.
      if (request.url.startsWith('/api/')) return payload
      return isJson(reply.getHeader('content-type')) && typeof payload === 'string' ? mark(payload) : payload
    })
    done()
  },
  { name: 'sandboxMark' },
)

const isJson = (contentType: unknown): boolean =>
  typeof contentType === 'string' && contentType.startsWith('application/json')

const mark = (json: string): string => {
  if (!json.startsWith('{')) return json
  return json === '{}' ? '{"sandbox":true}' : `{"sandbox":true,${json.slice(1)}`
}
