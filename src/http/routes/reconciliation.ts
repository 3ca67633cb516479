import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { ReconciliationPage } from '../../protocol/reconciliation.js'
import type { ReconciliationUseCases } from '../../usecases/reconciliation/useCases.js'
import { formatCsv } from '../csv.js'
import { forbidCaching } from '../forbidCaching.js'
import { reconciliationSchema } from '../schemas/reconciliation.js'

export interface ReconciliationRoutesDependencies {
  readonly useCases: ReconciliationUseCases
  readonly now: () => Date
}

const dayMs = 86_400_000

export const reconciliationRoutes: FastifyPluginCallbackZod<ReconciliationRoutesDependencies> = (
  app,
  { useCases, now },
  done,
) => {
  app.get(
    '/v1/reconciliation',
    { schema: reconciliationSchema, config: { access: 'operator' } },
    async ({ query }, reply) => {
      forbidCaching(reply)
      const { format, to = now(), from = new Date(to.getTime() - dayMs), ...rest } = query
      const page = await useCases.reconcilePeriod({ from, to, ...rest })
      if (format === 'json') return page
      if (page.nextCursor !== undefined) reply.header('x-next-cursor', page.nextCursor)
      return await reply.type('text/csv; charset=utf-8').send(formatPage(page))
    },
  )
  done()
}

const columns = [
  'id',
  'createdAt',
  'closedAt',
  'status',
  'network',
  'scheme',
  'asset',
  'payer',
  'payTo',
  'amount',
  'transaction',
  'accountId',
  'chain',
  'event',
  'quotaMonth',
  'fee',
  'differences',
] as const

/** Differences that no settlement of the page has are rows of their own, at the end. */
const formatPage = ({ settlements, differences }: ReconciliationPage): string => {
  const listed = new Set(settlements.map(({ id }) => id))
  const others = differences.filter(({ settlementId = '' }) => !listed.has(settlementId))
  return formatCsv(columns, [
    ...settlements.map((settlement) => ({ ...settlement, differences: settlement.differences.join(' ') })),
    ...others.map(({ settlementId = '', accountId = '', kind, message }) => ({
      id: settlementId,
      accountId,
      differences: `${kind}: ${message}`,
    })),
  ])
}
