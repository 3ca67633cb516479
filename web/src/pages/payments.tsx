import { useEffect, useState } from 'preact/hooks'
import type { Answer } from '../api.js'
import { onChange } from '../live.js'
import { withQuery } from '../router.js'
import { api, type Settlement } from '../session.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { FirstPayment } from '../ui/FirstPayment.js'
import { Empty, Page } from '../ui/layout.js'
import { PaymentTable } from '../ui/PaymentTable.js'
import { useLoad } from '../useLoad.js'
import { mergeChange } from './mergeChange.js'
import type { ConsolePage, PageInput } from './page.js'
import { PaymentFilters } from './paymentFilters.js'

const pageSize = 50
const statuses = ['pending', 'confirmed', 'failed'] as const

type PaymentPage = Answer<'/dashboard/settlements'>

const Payments = ({ query }: Pick<PageInput, 'query'>) => {
  const status = statuses.find((each) => each === query.get('status'))
  const network = query.get('network') ?? undefined
  const cursor = query.get('cursor') ?? undefined
  const search = query.get('q') ?? undefined
  const filter = { status, network, search, isFirst: cursor === undefined }
  const { data, error, isLoading, isOther, reload, update } = useLoad<PaymentPage>(
    (signal) =>
      api.get('/dashboard/settlements', {
        query: {
          limit: pageSize,
          ...(status === undefined ? {} : { status }),
          ...(network === undefined ? {} : { network }),
          ...(cursor === undefined ? {} : { cursor }),
          ...(search === undefined ? {} : { search }),
        },
        signal,
      }),
    [status, network, cursor, search],
  )
  const [arrived, setArrived] = useState<string | null>(null)
  useEffect(
    () =>
      onChange((change) => {
        if (change.kind === 'restarted') return reload()
        update((page) => mergeChange(page, change.settlement, filter))
        setArrived(change.settlement.id)
      }),
    [status, network, cursor, search],
  )
  const isFiltered = status !== undefined || network !== undefined || search !== undefined
  return (
    <Page title="Payments" lead="Newest first. Outcomes appear here as they are proven.">
      <PaymentFilters status={status} network={network} search={search} />
      {error === null ? null : <ErrorNote error={error} onRetry={reload} />}
      <Announcement payments={data?.settlements ?? []} arrived={arrived} />
      <div aria-busy={isLoading} class={isOther ? 'stale' : ''}>
        {data === null ? (
          isLoading ? (
            <p class="soft">Loading …</p>
          ) : null
        ) : data.settlements.length > 0 ? (
          <PaymentTable payments={data.settlements} arrived={arrived} />
        ) : isFiltered || cursor !== undefined ? (
          <Empty title="No payment matches.">
            <p>
              <a href="/console/payments">Show all payments</a>
            </p>
          </Empty>
        ) : (
          <FirstPayment />
        )}
      </div>
      <nav class="pager" aria-label="Pages of payments">
        {cursor === undefined ? null : <a href={withQuery({ cursor: null })}>Newest</a>}
        {data?.nextCursor === undefined || isOther ? null : (
          <a href={withQuery({ cursor: data.nextCursor })}>Older</a>
        )}
      </nav>
    </Page>
  )
}

/** For readers of the screen, who do not see a row change. */
const Announcement = ({
  payments,
  arrived,
}: {
  readonly payments: readonly Settlement[]
  readonly arrived: string | null
}) => {
  const payment = payments.find(({ id }) => id === arrived)
  return (
    <p class="hidden" role="status">
      {payment === undefined ? '' : `A payment is ${payment.status}`}
    </p>
  )
}

export const paymentsPage: ConsolePage = {
  path: '/console/payments',
  label: 'Payments',
  render: ({ query }) => <Payments query={query} />,
}
