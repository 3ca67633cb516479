import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { ChannelUseCases } from '../../usecases/useCases.js'
import { getKeyOwner } from '../auth/caller.js'
import { forbidCaching } from '../reply.js'
import { getChannelSchema, listChannelsSchema } from '../schemas/channels.js'

/** Channels of the own account; those of others do not exist. */
export const channelRoutes: FastifyPluginCallbackZod<{ readonly useCases: ChannelUseCases }> = (
  app,
  { useCases },
  done,
) => {
  app.addHook('onRequest', (_request, reply, next) => {
    forbidCaching(reply)
    next()
  })
  const reads = { access: 'dashboard', scope: 'read' } as const

  app.get(
    '/v1/channels',
    { schema: listChannelsSchema, config: reads },
    async (request) => await useCases.listChannels(getKeyOwner(request).account.id, request.query),
  )

  app.get(
    '/v1/channels/:network/:channelId',
    { schema: getChannelSchema, config: reads },
    async (request) => await useCases.getChannel(getKeyOwner(request).account.id, request.params),
  )
  done()
}
