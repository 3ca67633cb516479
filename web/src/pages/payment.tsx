import { useEffect } from 'preact/hooks'
import type { Answer } from '../api.js'
import { findExplorerLink } from '../explorers.js'
import { onChange } from '../live.js'
import { api } from '../session.js'
import { Code, CodeBlock } from '../ui/copy.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card, Empty, Fact, Facts, Page } from '../ui/layout.js'
import { ReasonCard } from '../ui/ReasonCard.js'
import { type PaymentEvent, Timeline } from '../ui/Timeline.js'
import { Amount, ExactTime, NetworkName, Status } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import type { ConsolePage } from './page.js'

type Details = Answer<'/v1/settlements/{id}'>
type OwnDetails = Answer<'/dashboard/settlements'>['settlements'][number]

const Payment = ({ id }: { readonly id: string }) => {
  const { data, error, reload } = useLoad(
    (signal) => api.get('/v1/settlements/{id}', { params: { id }, signal }),
    [id],
  )
  // The fee is shown to the project of the payment only.
  const own = useLoad(
    (signal) => api.get('/dashboard/settlements', { query: { search: id, limit: 1 }, signal }),
    [id],
  )
  // It keeps what the settlement itself has forgotten: blocks that the chain dropped.
  const events = useLoad(
    (signal) => api.get('/v1/events', { query: { settlementId: id, limit: 100 }, signal }),
    [id],
  )
  useEffect(
    () =>
      onChange((change) => {
        if (change.kind === 'settlement' && change.settlement.id !== id) return
        reload()
        own.reload()
        events.reload()
      }),
    [id],
  )
  const isOpen = data !== null && (data.status === 'pending' || data.block?.isFinal === false)
  useEffect(() => {
    // No event says that a block is final.
    if (!isOpen) return
    const timer = setInterval(reload, 10_000)
    return () => clearInterval(timer)
  }, [isOpen])
  return (
    <Page
      title="Payment"
      lead={<a href="/console/payments">All payments</a>}
      actions={data === null ? undefined : <Status status={data.status} />}
    >
      {error === null ? null : error.status === 404 || error.status === 400 ? (
        <Empty title="There is no payment with this id." />
      ) : (
        <ErrorNote error={error} onRetry={reload} />
      )}
      {data === null ? null : (
        <PaymentDetails
          payment={data}
          own={own.data?.settlements[0] ?? null}
          events={events.data?.events ?? []}
        />
      )}
    </Page>
  )
}

interface PaymentDetailsProps {
  readonly payment: Details
  readonly own: OwnDetails | null
  readonly events: readonly PaymentEvent[]
}

const PaymentDetails = ({ payment, own, events }: PaymentDetailsProps) => (
  <div class="columns">
    <Receipt payment={payment} own={own} />
    <div class="stack">
      <Card title="What happened">
        <Timeline payment={payment} events={events} />
      </Card>
      <ReasonCard title="Why it failed" reason={payment.errorReason} message={payment.errorMessage} />
      <Card title="The same as curl">
        <CodeBlock
          label="Request for this payment"
          text={`curl -s ${location.origin}/v1/settlements/${payment.id} \\\n  -H "authorization: Bearer $QUITTANCE_API_KEY"`}
        />
      </Card>
    </div>
  </div>
)

const Receipt = ({ payment, own }: Omit<PaymentDetailsProps, 'events'>) => {
  const { id, network, asset, scheme, payer, payTo, amount, maxAmount, transaction } = payment
  const link = findExplorerLink(network, transaction)
  return (
    <Card title="Receipt" form="receipt">
      <p class="total-amount">
        <Amount amount={amount} network={network} asset={asset} />
      </p>
      <Facts>
        {maxAmount === undefined ? null : (
          <Fact name="Authorized">
            <Amount amount={maxAmount} network={network} asset={asset} />
          </Fact>
        )}
        {own === null || own.fee === '0' ? null : (
          <Fact name="Fee of your tier">
            <Amount amount={own.fee} network={network} asset={asset} />
          </Fact>
        )}
        <Fact name="Network">
          <NetworkName network={network} />
        </Fact>
        <Fact name="Scheme">{scheme}</Fact>
        <Fact name="Received">
          <ExactTime at={payment.createdAt} />
        </Fact>
      </Facts>
      <dl class="long-facts">
        <Fact name="Payer">
          <Code text={payer} label="payer" />
        </Fact>
        <Fact name="Recipient">
          <Code text={payTo} label="recipient" />
        </Fact>
        <Fact name="Asset">
          <Code text={asset} label="asset" />
        </Fact>
        {transaction === '' ? null : (
          <Fact name="Transaction">
            <Code text={transaction} label="transaction" />
            {link === null ? null : (
              <a class="outward" href={link} target="_blank" rel="noreferrer noopener">
                Show in the explorer
              </a>
            )}
          </Fact>
        )}
        <Fact name="Id">
          <Code text={id} label="id" />
        </Fact>
      </dl>
    </Card>
  )
}

export const paymentPage: ConsolePage = {
  path: '/console/payments/:id',
  label: null,
  render: ({ params }) => <Payment id={params.id ?? ''} />,
}
