import { useEffect } from 'preact/hooks'
import type { Schemas } from '../api.js'
import { api } from '../session.js'
import { CodeBlock } from '../ui/copy.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Choice, Listing, optionsOf } from '../ui/Listing.js'
import { Card, Empty, Fact, Facts } from '../ui/layout.js'
import { ExactTime, Status, Time } from '../ui/values.js'
import { useAction } from '../useAction.js'
import { useLoad } from '../useLoad.js'
import { useReloadOnEvents } from '../useReloadOnEvents.js'
import type { PageInput } from './page.js'

type Delivery = Schemas['WebhookDelivery']

const statuses = ['waiting', 'delivered', 'failed', 'stored'] as const
const pageSize = 20
const refreshMs = 5_000

interface DeliveriesProps extends Pick<PageInput, 'query'> {
  readonly hasEndpoint: boolean
}

export const Deliveries = ({ query, hasEndpoint }: DeliveriesProps) => {
  const status = statuses.find((each) => each === query.get('status'))
  const cursor = query.get('cursor')
  const loaded = useLoad(
    (signal) =>
      api.get('/dashboard/webhook/deliveries', {
        query: {
          limit: pageSize,
          ...(status === undefined ? {} : { status }),
          ...(cursor === null ? {} : { cursor }),
        },
        signal,
      }),
    [status, cursor, hasEndpoint],
  )
  const { data, reload, update } = loaded
  // A message is sent after its event.
  useReloadOnEvents(null, reload, { delayMs: 1_500 })
  const isWaiting = data?.deliveries.some((each) => each.status === 'waiting') ?? false
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(reload, refreshMs)
    return () => clearTimeout(timer)
  }, [isWaiting, data, reload])
  const replace = (changed: Delivery) =>
    update((page) => ({
      ...page,
      deliveries: page.deliveries.map((each) => (each.id === changed.id ? changed : each)),
    }))
  return (
    <Card
      title="Deliveries"
      actions={
        <button type="button" class="button quiet" onClick={reload}>
          Reload
        </button>
      }
    >
      <search aria-label="Deliveries" class="filters">
        <Choice
          label="Status"
          name="status"
          value={status}
          options={optionsOf(statuses)}
          all="All that were sent"
        />
      </search>
      <Listing
        noun="deliveries"
        loaded={loaded}
        isEmpty={data?.deliveries.length === 0}
        cursor={cursor}
        isFiltered={status !== undefined}
        empty={
          <Empty title="Nothing was sent in the last 30 days.">
            <p>
              {hasEndpoint
                ? 'The next event of your payments, streams or intents appears here.'
                : 'Set a URL above. Events until then are kept, and can be sent afterwards: choose the status “Stored”.'}
            </p>
          </Empty>
        }
      >
        <ul class="deliveries">
          {data?.deliveries.map((delivery) => (
            <li key={delivery.id}>
              <DeliveryRow delivery={delivery} onChanged={replace} />
            </li>
          ))}
        </ul>
      </Listing>
    </Card>
  )
}

interface DeliveryProps {
  readonly delivery: Delivery
  readonly onChanged: (changed: Delivery) => void
}

const DeliveryRow = ({ delivery, onChanged }: DeliveryProps) => {
  const { type, status, createdAt } = delivery
  return (
    <details>
      <summary>
        <Status status={status} />
        <code>{type}</code>
        <span class="soft answer">{describeAnswer(delivery)}</span>
        <Time at={createdAt} />
      </summary>
      <DeliveryDetails delivery={delivery} onChanged={onChanged} />
    </details>
  )
}

const describeAnswer = ({ status, lastStatusCode, lastError }: Delivery): string => {
  if (lastStatusCode !== undefined) return `answered ${lastStatusCode}`
  if (lastError !== undefined) return lastError
  return status === 'stored' ? 'no webhook was set' : 'not sent yet'
}

const DeliveryDetails = ({ delivery, onChanged }: DeliveryProps) => {
  const { id, attempts, createdAt, lastAttemptAt, nextAttemptAt } = delivery
  const { isBusy, error, run } = useAction()
  const resend = async () => {
    const changed = await run(() =>
      api.post('/dashboard/webhook/deliveries/{id}/redeliver', { params: { id } }),
    )
    if (changed !== null) onChanged(changed)
  }
  return (
    <div class="delivery">
      <Facts>
        <Fact name="Last answer">{describeAnswer(delivery)}</Fact>
        <Fact name="Attempts">{attempts}</Fact>
        {lastAttemptAt === undefined ? null : (
          <Fact name="Last attempt">
            <ExactTime at={lastAttemptAt} />
          </Fact>
        )}
        {nextAttemptAt === undefined ? null : (
          <Fact name="Next attempt">
            <ExactTime at={nextAttemptAt} />
          </Fact>
        )}
        <Fact name="Event">
          <ExactTime at={createdAt} />
        </Fact>
      </Facts>
      <h3>Request</h3>
      <CodeBlock label="Request" text={writeRequest(delivery)} />
      <p class="small soft">
        Each attempt is signed anew: the service keeps neither the signature nor the body of the answer.
      </p>
      {error === null ? null : <ErrorNote error={error} />}
      <button type="button" class="button" disabled={isBusy} onClick={() => void resend()}>
        {isBusy ? 'Sending …' : 'Send again'}
      </button>
    </div>
  )
}

/** As the receiver sees it, but for line breaks of the body. */
const writeRequest = ({ id, type, createdAt, data }: Delivery): string =>
  [
    'content-type: application/json',
    'user-agent: quittance-webhooks',
    `webhook-id: ${id}`,
    'webhook-timestamp: <Unix seconds of the attempt>',
    'webhook-signature: v1,<HMAC-SHA256 over id.timestamp.body>',
    '',
    JSON.stringify({ id, type, timestamp: createdAt, data }, null, 2),
  ].join('\n')
