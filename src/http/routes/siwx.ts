import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { bodyLimits } from '../../protocol/requestLimits.js'
import type { SiwxUseCases } from '../../usecases/useCases.js'
import { readRequester } from '../auth/caller.js'
import { forbidCaching } from '../reply.js'
import { issueNonceSchema, verifySignInSchema } from '../schemas/siwx.js'

export const siwxRoutes: FastifyPluginCallbackZod<{ readonly useCases: SiwxUseCases }> = (
  app,
  { useCases },
  done,
) => {
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  const config = { access: 'public' } as const

  app.post('/v1/siwx/nonce', { schema: issueNonceSchema, config }, async ({ body }) =>
    useCases.issueNonce(body ?? {}),
  )

  app.post(
    '/v1/siwx/verify',
    { schema: verifySignInSchema, config, bodyLimit: bodyLimits.signIn },
    async (request) => await useCases.verifySignIn(request.body, readRequester(request)),
  )
  done()
}
