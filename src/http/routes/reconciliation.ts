import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import type { ReconciliationPage } from '../../protocol/reconciliation.js'
import type { ReconciliationUseCases } from '../../usecases/useCases.js'
import { forbidCaching } from '../reply.js'
import { reconciliationSchema } from '../schemas/reconciliation.js'

interface ReconciliationRoutesDependencies {
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
  // `settlement` or `difference`. Only settlements have an amount, so that the column can be summed.
  'row',
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
  'kind',
  'message',
  'expected',
  'actual',
] as const

/** A row for each settlement of the page, then a row for each difference. */
const formatPage = ({ settlements, differences, counts }: ReconciliationPage): string =>
  formatCsv(columns, [
    ...settlements.map((settlement) => ({
      row: 'settlement',
      ...settlement,
      differences: settlement.differences.join(' '),
    })),
    ...differences.map(({ settlementId = '', ...found }) => ({
      row: 'difference',
      id: settlementId,
      ...found,
    })),
    ...counts.flatMap(({ kind, count }) => {
      const listed = differences.filter((found) => found.kind === kind).length
      const message = `${count - listed} more of this kind are not listed`
      return count > listed ? [{ row: 'difference', kind, message }] : []
    }),
  ])

/** A table as CSV (RFC 4180), with a row of names. */
export const formatCsv = <Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Partial<Record<Name, string | undefined>>>[],
): string =>
  [names.map(formatField), ...rows.map((row) => names.map((name) => formatField(row[name] ?? '')))]
    .map((fields) => `${fields.join(',')}\r\n`)
    .join('')

/** Spreadsheets run what begins like a formula. */
const formatField = (text: string): string => {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
