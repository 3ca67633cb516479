import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { AppError } from '../../errors.js'
import type { CreditUseCases, WalletQuery } from '../../usecases/useCases.js'
import { forbidCaching } from '../reply.js'
import {
  type GivenWallet,
  getCreditScoreSchema,
  listTopWalletsSchema,
  refreshCreditScoreSchema,
} from '../schemas/credit.js'

export const creditRoutes: FastifyPluginCallbackZod<{ readonly useCases: CreditUseCases }> = (
  app,
  { useCases },
  done,
) => {
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  app.get(
    '/v1/credit/score',
    { schema: getCreditScoreSchema, config: { access: 'public' } },
    async ({ query }) => await useCases.readScore(query),
  )

  app.post(
    '/v1/credit/refresh',
    { schema: refreshCreditScoreSchema, config: { access: 'key', scope: 'read' } },
    async ({ query, body }) => await useCases.refreshScore(readWallet(query, body ?? {})),
  )

  app.get(
    '/v1/credit/top',
    { schema: listTopWalletsSchema, config: { access: 'public', isLongRead: true } },
    async ({ query }) => await useCases.listTop(query.limit),
  )
  done()
}

const readWallet = (query: GivenWallet, body: GivenWallet): WalletQuery => {
  const wallet = query.wallet ?? body.wallet
  if (wallet === undefined)
    throw new AppError('INVALID_REQUEST', 'wallet: is required, in the query or in the body')
  for (const field of ['wallet', 'network'] as const) {
    if (query[field] !== undefined && body[field] !== undefined && query[field] !== body[field]) {
      throw new AppError('INVALID_REQUEST', `${field}: the query and the body differ`)
    }
  }
  return { wallet, network: query.network ?? body.network }
}
