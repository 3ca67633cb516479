import type { Answer } from '../api.js'
import { formatSeconds, shorten } from '../format.js'
import { networks } from '../networks.js'
import { useStore } from '../store.js'
import { Choice, Listing, optionsOf } from '../ui/Listing.js'
import { Card, Empty } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Amount, NetworkName, Status, Time } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import { operatorApi } from './session.js'

type SettlementPage = Extract<Answer<'/v1/settlements'>, { readonly settlements: readonly unknown[] }>
type Settlement = SettlementPage['settlements'][number]

const others = ['confirmed', 'failed'] as const
const pageSize = 50

export const Settlements = ({ query }: { readonly query: URLSearchParams }) => {
  const known = useStore(networks)
  const chosen = others.find((each) => each === query.get('status'))
  const network = query.get('network') ?? undefined
  const cursor = query.get('cursor')
  const loaded = useLoad(
    async (signal) => {
      const result = await operatorApi.get('/v1/settlements', {
        query: {
          status: chosen ?? 'pending',
          limit: pageSize,
          ...(network === undefined ? {} : { network }),
          ...(cursor === null ? {} : { cursor }),
        },
        signal,
      })
      if (!result.ok) return result
      // With a status the answer is a page.
      const page: SettlementPage = 'settlements' in result.data ? result.data : { settlements: [] }
      return { ok: true, data: page } as const
    },
    [chosen, network, cursor],
  )
  return (
    <Card
      title="Settlements"
      actions={
        <button type="button" class="button quiet" onClick={loaded.reload}>
          Reload
        </button>
      }
    >
      <search aria-label="Settlements" class="filters">
        <Choice label="Status" name="status" value={chosen} options={optionsOf(others)} all="Pending" />
        <Choice
          label="Network"
          name="network"
          value={network}
          options={known.map((each) => ({ value: each.network, label: each.name }))}
        />
      </search>
      <Listing
        noun="settlements"
        loaded={loaded}
        isEmpty={loaded.data?.settlements.length === 0}
        cursor={cursor}
        isFiltered={network !== undefined || chosen !== undefined}
        empty={<Empty title="No settlement is pending." />}
      >
        <SettlementTable settlements={loaded.data?.settlements ?? []} />
      </Listing>
    </Card>
  )
}

const SettlementTable = ({ settlements }: { readonly settlements: readonly Settlement[] }) => (
  <Table
    caption="Settlements, newest first"
    rows={settlements}
    getKey={({ id }) => id}
    columns={[
      {
        label: 'Amount',
        render: (settlement) => (
          <>
            <Amount {...settlement} />
            <span class="soft">
              <code>{settlement.id}</code>
            </span>
          </>
        ),
      },
      {
        label: 'Status',
        render: ({ status, errorReason }) => (
          <>
            <Status status={status} />
            <span class="soft">{errorReason?.replaceAll('_', ' ')}</span>
          </>
        ),
      },
      {
        label: 'Network',
        isExtra: true,
        render: ({ network, scheme }) => (
          <>
            <NetworkName network={network} />
            <span class="soft">{scheme}</span>
          </>
        ),
      },
      {
        label: 'Account',
        isExtra: true,
        render: ({ caller }) => <code title={caller}>{shorten(caller, [8, 4])}</code>,
      },
      {
        label: 'Transaction',
        isExtra: true,
        render: ({ transaction }) =>
          transaction === '' ? '–' : <code title={transaction}>{shorten(transaction, [8, 6])}</code>,
      },
      {
        label: 'Received',
        align: 'end',
        render: ({ createdAt, status, ageSeconds }) =>
          status === 'pending' ? `${formatSeconds(ageSeconds)} ago` : <Time at={createdAt} />,
      },
    ]}
  />
)
