import type { FastifyRequest } from 'fastify'
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { bodyLimits } from '../../protocol/requestLimits.js'
import { streamLimits } from '../../protocol/streams.js'
import type { Tiers } from '../../protocol/tiers.js'
import type { StreamActor, StreamUseCases } from '../../usecases/streams/useCases.js'
import { getKeyOwner, readQuotaClaim, readRequester } from '../auth/caller.js'
import { forbidCaching, isClientGone } from '../reply.js'
import {
  closeStreamSchema,
  getStreamSchema,
  listStreamsSchema,
  openStreamSchema,
  pauseStreamSchema,
  resumeStreamSchema,
  updateStreamSchema,
} from '../schemas/streams.js'

interface StreamRoutesDependencies {
  readonly useCases: StreamUseCases
  readonly maxBodyBytes: number
  readonly tiers: Tiers
}

export const streamRoutes: FastifyPluginCallbackZod<StreamRoutesDependencies> = (
  app,
  { useCases, maxBodyBytes, tiers },
  done,
) => {
  app.addHook('onRequest', (_request, reply, next) => {
    forbidCaching(reply)
    next()
  })

  const settles = { access: 'key', scope: 'settle' } as const

  app.post(
    '/v1/stream/open',
    { schema: openStreamSchema, config: settles, bodyLimit: maxBodyBytes },
    async (request, reply) => {
      const { body, caller } = request
      const { answer, isNew } = await useCases.openStream({
        body,
        caller,
        requester: readRequester(request),
        quota: readQuotaClaim(request, tiers),
        isAwaited: () => !isClientGone(reply),
      })
      return await reply.code(isNew ? 201 : 200).send(answer)
    },
  )

  app.post(
    '/v1/stream/update',
    { schema: updateStreamSchema, config: settles, bodyLimit: bodyLimits.signIn },
    async (request) => await useCases.updateStream(readActor(request, request.body.token), request.body),
  )

  app.post(
    '/v1/stream/close',
    { schema: closeStreamSchema, config: settles, bodyLimit: bodyLimits.signIn },
    async (request) => await useCases.closeStream(readActor(request, request.body.token), request.body),
  )

  app.post(
    '/v1/stream/:id/pause',
    { schema: pauseStreamSchema, config: settles },
    async (request) => await useCases.pauseStream(readActor(request, request.body?.token), request.params.id),
  )

  app.post(
    '/v1/stream/:id/resume',
    { schema: resumeStreamSchema, config: settles },
    async (request) =>
      await useCases.resumeStream(readActor(request, request.body?.token), request.params.id),
  )

  app.get(
    '/v1/stream/:id',
    { schema: getStreamSchema, config: { access: 'key', scope: 'read' } },
    async (request) => await useCases.getStream(readActor(request, undefined), request.params.id),
  )

  app.get(
    '/v1/stream',
    { schema: listStreamsSchema, config: { access: 'dashboard', scope: 'read' } },
    async (request) => await useCases.listStreams(getKeyOwner(request).account.id, request.query),
  )
  done()
}

const readActor = (request: FastifyRequest, token: string | undefined): StreamActor => ({
  caller: request.caller,
  token: token ?? readTokenHeader(request),
})

const readTokenHeader = ({ headers }: FastifyRequest): string | null => {
  const header = headers['x-stream-token']
  return typeof header === 'string' && header.length <= streamLimits.token ? header : null
}
