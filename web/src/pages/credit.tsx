import { useId, useState } from 'preact/hooks'
import { networks } from '../networks.js'
import { navigate, withQuery } from '../router.js'
import { api } from '../session.js'
import { useStore } from '../store.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Choice } from '../ui/Listing.js'
import { Card, Empty, Page } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { useLoad } from '../useLoad.js'
import { formatDollars, Score } from './creditScore.js'
import type { ConsolePage, PageInput } from './page.js'

const Credit = ({ query }: Pick<PageInput, 'query'>) => {
  const wallet = query.get('wallet')
  const network = query.get('network') ?? undefined
  return (
    <Page title="Credit" lead="How well a wallet has paid through this service, from 0 to 1,000.">
      <search aria-label="Wallet">
        <WalletForm key={wallet ?? ''} wallet={wallet ?? ''} network={network} />
      </search>
      {wallet === null ? (
        <Ranking />
      ) : (
        <Score key={`${wallet} ${network}`} wallet={wallet} network={network} />
      )}
    </Page>
  )
}

interface WalletFormProps {
  readonly wallet: string
  readonly network: string | undefined
}

const WalletForm = ({ wallet, network }: WalletFormProps) => {
  const known = useStore(networks)
  const [text, setText] = useState(wallet)
  const id = useId()
  const find = (event: Event) => {
    event.preventDefault()
    navigate(withQuery({ wallet: text.trim() }))
  }
  return (
    <form class="filters" onSubmit={find}>
      <div class="grow">
        <label for={id}>Address of a payer</label>
        <input
          id={id}
          type="search"
          spellcheck={false}
          maxLength={200}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <Choice
        label="Network"
        name="network"
        value={network}
        options={known.map((each) => ({ value: each.network, label: each.name }))}
        all="Any"
      />
      <button type="submit" class="button">
        Look up
      </button>
    </form>
  )
}

const Ranking = () => {
  const { data, error, reload, isLoading } = useLoad(
    (signal) => api.get('/v1/credit/top', { query: { limit: 20 }, signal }),
    [],
  )
  return (
    <Card title="The highest scores">
      {error === null ? null : <ErrorNote error={error} onRetry={reload} />}
      {data === null ? (
        isLoading ? (
          <p class="soft">Loading …</p>
        ) : null
      ) : data.wallets.length === 0 ? (
        <Empty title="No wallet has points yet.">
          <p>
            The first confirmed payment of a cent or more gives some. Every address can be looked up above.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Wallets, the highest score first"
          rows={data.wallets}
          getKey={({ namespace, wallet }) => `${namespace} ${wallet}`}
          getClass={() => 'linked'}
          columns={[
            {
              label: 'Wallet',
              render: ({ wallet }) => (
                <a class="row-link" href={`/console/credit?wallet=${encodeURIComponent(wallet)}`}>
                  <code class="long">{wallet}</code>
                </a>
              ),
            },
            {
              label: 'Payments',
              align: 'end',
              isExtra: true,
              render: ({ stats }) => stats.paymentCount,
            },
            {
              label: 'Volume',
              align: 'end',
              isExtra: true,
              render: ({ stats }) => formatDollars(stats.totalVolume),
            },
            { label: 'Score', align: 'end', render: ({ score }) => <strong>{score}</strong> },
          ]}
        />
      )}
    </Card>
  )
}

export const creditPage: ConsolePage = {
  path: '/console/credit',
  label: 'Credit',
  render: ({ query }) => <Credit query={query} />,
}
