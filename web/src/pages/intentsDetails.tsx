import { useState } from 'preact/hooks'
import type { Schemas } from '../api.js'
import { formatSeconds, formatUnits } from '../format.js'
import { nameOf, networks } from '../networks.js'
import { api } from '../session.js'
import { useStore } from '../store.js'
import { Confirm } from '../ui/Confirm.js'
import { Code, CodeBlock } from '../ui/copy.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { LoadedParts } from '../ui/LoadedParts.js'
import { Card, Empty, Fact, Facts, Page } from '../ui/layout.js'
import { ReasonCard } from '../ui/ReasonCard.js'
import { Table } from '../ui/Table.js'
import { Amount, ExactTime, NetworkName, Status, Time } from '../ui/values.js'
import { useAction } from '../useAction.js'
import { useLoad } from '../useLoad.js'
import { useReloadOnEvents } from '../useReloadOnEvents.js'
import { type Intent, IntentAmount } from './intents.js'
import type { ConsolePage } from './page.js'

type Details = Schemas['IntentWithRoutes']

const IntentPage = ({ id }: { readonly id: string }) => {
  const loaded = useLoad<Details>((signal) => api.get('/v1/intent/{id}', { params: { id }, signal }), [id])
  const { data, reload, update } = loaded
  useReloadOnEvents('intent', reload)
  return (
    <Page
      title="Intent"
      lead={<a href="/console/intents">All intents</a>}
      actions={data === null ? undefined : <Status status={data.intent.status} />}
    >
      <LoadedParts
        loaded={loaded}
        missing={
          <Empty title="There is no intent with this id.">
            <p>Those that expired or were cancelled are kept for a day, others for 90 days.</p>
          </Empty>
        }
      >
        {(data) => (
          <>
            <div class="columns">
              <Receipt intent={data.intent} />
              <div class="stack">
                <State
                  intent={data.intent}
                  onRoutes={(details) => update(() => details)}
                  onIntent={(intent) => update((details) => ({ ...details, intent }))}
                />
                <ReasonCard
                  title="Why it failed"
                  reason={data.intent.errorReason}
                  message={data.intent.errorMessage}
                />
                {data.intent.metadata === undefined ? null : (
                  <Card title="Your metadata">
                    <CodeBlock label="Metadata" text={JSON.stringify(data.intent.metadata, null, 2)} />
                  </Card>
                )}
              </div>
            </div>
            <Routes details={data} />
          </>
        )}
      </LoadedParts>
    </Page>
  )
}

const Receipt = ({ intent }: { readonly intent: Intent }) => (
  <Card title="Receipt" form="receipt">
    <p class="total-amount">
      <IntentAmount intent={intent} />
    </p>
    <Facts>
      <Fact name="Asset">{intent.asset.length > 20 ? 'a token' : intent.asset}</Fact>
      {intent.selectedRoute === undefined ? null : (
        <Fact name="Network">
          <NetworkName network={intent.selectedRoute.network} />
        </Fact>
      )}
      <Fact name="Created">
        <ExactTime at={intent.createdAt} />
      </Fact>
      <Fact name={intent.closedAt === undefined ? 'Expires' : 'Ended'}>
        <ExactTime at={intent.closedAt ?? intent.expiresAt} />
      </Fact>
    </Facts>
    <dl class="long-facts">
      <Parties name="Payer" party={intent.payer} />
      <Parties name="Recipient" party={intent.payee} />
      {intent.asset.length > 20 ? (
        <Fact name="Asset">
          <Code text={intent.asset} label="asset" />
        </Fact>
      ) : null}
      <Fact name="Id">
        <Code text={intent.id} label="id" />
      </Fact>
    </dl>
  </Card>
)

const Parties = ({ name, party }: { readonly name: string; readonly party: Intent['payer'] }) => {
  if (typeof party === 'string') {
    return (
      <Fact name={name}>
        <Code text={party} label={name.toLowerCase()} />
      </Fact>
    )
  }
  return Object.entries(party).map(([where, address]) => (
    <Fact key={where} name={`${name}, ${where}`}>
      <Code text={address} label={`${name.toLowerCase()} on ${where}`} />
    </Fact>
  ))
}

interface StateProps {
  readonly intent: Intent
  readonly onRoutes: (details: Details) => void
  readonly onIntent: (intent: Intent) => void
}

/** Paying needs a signature of the payer; an API key alone can recompute the routes, and cancel. */
const State = ({ intent, onRoutes, onIntent }: StateProps) => {
  const [isAsked, setAsked] = useState(false)
  const change = useAction()
  const params = { id: intent.id }
  const refresh = async () => {
    const details = await change.run(() => api.post('/v1/intent/{id}/refresh', { params }))
    if (details !== null) onRoutes(details)
  }
  const cancel = async () => {
    const changed = await change.run(() => api.post('/v1/intent/{id}/cancel', { params }))
    if (changed === null) return
    setAsked(false)
    onIntent(changed.intent)
  }
  const isOpen = intent.status === 'pending' || intent.status === 'routed'
  return (
    <Card title="State">
      <p>
        <StateSentence intent={intent} />
      </p>
      {isOpen ? (
        <div class="actions more">
          <button type="button" class="button" disabled={change.isBusy} onClick={() => void refresh()}>
            Compute the routes again
          </button>
          <button type="button" class="button" disabled={change.isBusy} onClick={() => setAsked(true)}>
            Cancel the intent
          </button>
        </div>
      ) : null}
      {change.error === null || isAsked ? null : <ErrorNote error={change.error} />}
      {isAsked ? (
        <Confirm
          title="Cancel the intent"
          action="Cancel the intent"
          {...change}
          onConfirm={() => void cancel()}
          onClose={() => {
            setAsked(false)
            change.clear()
          }}
        >
          <p>The payer cannot pay it any more. A transfer that was on chain before still completes it.</p>
        </Confirm>
      ) : null}
    </Card>
  )
}

const StateSentence = ({ intent: { status, expiresAt, settlementId } }: Pick<StateProps, 'intent'>) => {
  const payment =
    settlementId === undefined ? null : <a href={`/console/payments/${settlementId}`}>Show the payment</a>
  switch (status) {
    case 'pending':
      return (
        <>
          No route is selected yet. It expires <Time at={expiresAt} />.
        </>
      )
    case 'routed':
      return (
        <>
          A route is selected, and the payer can sign. It expires <Time at={expiresAt} />.
        </>
      )
    case 'executing':
      return <>The payment is being settled; its outcome ends the intent. {payment}</>
    case 'completed':
      return <>The recipient was paid. {payment}</>
    case 'failed':
      return <>The payment was sent and failed: no funds moved. {payment}</>
    case 'expired':
      return <>Its time was over before it was paid.</>
    case 'cancelled':
      return <>It was cancelled.</>
  }
}

const Routes = ({ details: { intent, availableRoutes, unavailable } }: { readonly details: Details }) => {
  useStore(networks)
  return (
    <div class="stack below">
      <Card title="Routes">
        {availableRoutes.length === 0 ? (
          <p>There is none: below is why.</p>
        ) : (
          <Table
            caption="Routes, the best first"
            rows={availableRoutes}
            getKey={({ id }) => id}
            columns={[
              {
                label: 'Network',
                render: ({ id, network, scheme }) => (
                  <>
                    <NetworkName network={network} /> <span class="soft">{scheme}</span>
                    {id === intent.selectedRoute?.id ? <span class="mark">selected</span> : null}
                  </>
                ),
              },
              { label: 'Pays', render: (route) => <Amount {...route} /> },
              {
                label: 'Has',
                isExtra: true,
                render: ({ balance, network, asset }) =>
                  balance === null ? (
                    <span class="soft">unknown</span>
                  ) : (
                    <Amount amount={balance} network={network} asset={asset} />
                  ),
              },
              {
                label: 'Fee',
                isExtra: true,
                render: ({ fee }) =>
                  fee === null ? (
                    <span class="soft">unknown</span>
                  ) : (
                    `${formatUnits(fee.amount, fee.decimals)} ${fee.symbol}, paid by the ${fee.paidBy}`
                  ),
              },
              {
                label: 'Takes',
                isExtra: true,
                render: ({ estimatedSeconds }) =>
                  estimatedSeconds === null ? (
                    <span class="soft">unknown</span>
                  ) : (
                    formatSeconds(estimatedSeconds)
                  ),
              },
              { label: 'Score', align: 'end', render: ({ score }) => score.toFixed(2) },
            ]}
          />
        )}
      </Card>
      {unavailable.length === 0 ? null : (
        <Card title="Not possible">
          <ul class="plain-list">
            {unavailable.map(({ network, scheme = '', asset = '', message }) => (
              <li key={`${network} ${scheme} ${asset}`}>
                <strong>{nameOf(network)}</strong> <span class="soft">{message}</span>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  )
}

export const intentPage: ConsolePage = {
  path: '/console/intents/:id',
  label: null,
  render: ({ params }) => <IntentPage key={params.id} id={params.id ?? ''} />,
}
