import type { ComponentChildren } from 'preact'
import type { Answer } from '../api.js'
import { formatSeconds, groupThousands } from '../format.js'
import { Time } from './values.js'

type Details = Answer<'/v1/settlements/{id}'>

export type PaymentEvent = Answer<'/v1/events'>['events'][number]

type StepState = 'done' | 'now' | 'later' | 'bad'

interface Step {
  readonly state: StepState
  readonly title: string
  readonly detail: ComponentChildren
}

const spoken: Readonly<Record<StepState, string>> = {
  done: 'done',
  now: 'in progress',
  later: 'not yet',
  bad: 'failed',
}

interface TimelineProps {
  readonly payment: Details
  /** Of the payment; those of an anonymous caller, and old ones, are not kept. */
  readonly events: readonly PaymentEvent[]
}

/** From the journal of the service: each step is there because it was recorded. */
export const Timeline = ({ payment, events }: TimelineProps) => (
  <ol class="timeline">
    {listSteps(payment, events).map(({ state, title, detail }, index) => (
      <li key={`${index} ${title}`} class={state}>
        <strong>{title}</strong> <span class="hidden">({spoken[state]})</span>
        <span class="soft">{detail}</span>
      </li>
    ))}
  </ol>
)

const listSteps = (payment: Details, events: readonly PaymentEvent[]): readonly Step[] => {
  const { status, createdAt, closedAt, transaction, block } = payment
  const isSent = transaction !== ''
  const recorded: Step = { state: 'done', title: 'Recorded', detail: <Time at={createdAt} /> }
  const took =
    closedAt === undefined
      ? null
      : formatSeconds((new Date(closedAt).getTime() - new Date(createdAt).getTime()) / 1_000)
  const dropped = events.filter(({ type }) => type === 'settlement.reorged').map(describeDropped)
  if (status === 'failed') {
    return [
      recorded,
      ...(isSent ? [describeSent(payment)] : []),
      ...dropped,
      {
        state: 'bad',
        title: 'Failed',
        detail: isSent
          ? `Proven in ${took ?? 'a while'}: no funds moved`
          : `Refused in ${took ?? 'a while'}: nothing was sent`,
      },
    ]
  }
  const isConfirmed = status === 'confirmed'
  return [
    recorded,
    isSent || isConfirmed
      ? describeSent(payment)
      : {
          state: 'now',
          title: 'To be sent',
          detail: 'Waits for its turn, or for the payer’s own transaction',
        },
    ...dropped,
    isConfirmed
      ? { state: 'done', title: 'Confirmed', detail: `In ${took ?? 'a while'}: the recipient was paid` }
      : {
          state: isSent ? 'now' : 'later',
          title: 'Outcome',
          detail: isSent ? 'Not known yet. Do not ask the payer to pay again' : 'Not known yet',
        },
    describeFinality(isConfirmed, block),
  ]
}

const describeSent = ({ transactions }: Details): Step => ({
  state: 'done',
  title: 'Sent',
  detail:
    transactions.length > 1
      ? `In ${transactions.length} transactions, of which at most one can pay`
      : 'In one transaction',
})

const describeDropped = ({ timestamp }: PaymentEvent): Step => ({
  state: 'bad',
  title: 'Block dropped',
  detail: (
    <>
      <Time at={timestamp} />: the chain was reorganized, and the payment was pending again
    </>
  ),
})

const describeFinality = (isConfirmed: boolean, block: Details['block']): Step => {
  if (!isConfirmed)
    return { state: 'later', title: 'Final', detail: 'Once its block can no longer be orphaned' }
  if (block === undefined)
    return { state: 'done', title: 'Final', detail: 'The network has no reorganizations' }
  const number = groupThousands(block.number)
  return block.isFinal
    ? { state: 'done', title: 'Final', detail: `Block ${number} can no longer be orphaned` }
    : { state: 'now', title: 'Final soon', detail: `Block ${number} could still be orphaned` }
}
