import type { FastifyRequest } from 'fastify'
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { RecipientUseCases, ServiceAddress } from '../../usecases/useCases.js'
import { getKeyOwner, readActor } from '../auth/caller.js'
import { forbidCaching } from '../reply.js'
import {
  deleteRecipientSchema,
  listRecipientsSchema,
  stateRecipientSchema,
  writeRecipientMessageSchema,
} from '../schemas/recipients.js'

const path = '/dashboard/recipients'

export const recipientRoutes: FastifyPluginCallbackZod<{ readonly useCases: RecipientUseCases }> = (
  app,
  { useCases },
  done,
) => {
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  const config = { access: 'dashboard' } as const

  app.post(`${path}/message`, { schema: writeRecipientMessageSchema, config }, async (request) =>
    useCases.writeMessage(getKeyOwner(request).account, request.body, findAddress(request)),
  )

  app.post(path, { schema: stateRecipientSchema, config }, async (request) =>
    useCases.stateRecipient(getKeyOwner(request).account, request.body, {
      at: findAddress(request),
      by: readActor(request),
    }),
  )

  app.get(path, { schema: listRecipientsSchema, config }, async (request) =>
    useCases.listRecipients(getKeyOwner(request).account),
  )

  app.delete(path, { schema: deleteRecipientSchema, config }, async (request) =>
    useCases.deleteRecipient(getKeyOwner(request).account, request.query, readActor(request)),
  )
  done()
}

/** Wallets show it as a part of a text: what is no host is left out. */
const hostForm = /^[A-Za-z0-9.:[\]_-]{1,255}$/

const findAddress = ({ host, protocol }: FastifyRequest): ServiceAddress => {
  const shown = hostForm.test(host) ? host : 'localhost'
  return { host: shown, url: `${protocol}://${shown}${path}` }
}
