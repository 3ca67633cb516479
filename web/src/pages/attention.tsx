import type { ComponentChildren } from 'preact'
import { formatCount, formatShare } from '../format.js'
import { type Account, type Activity, api } from '../session.js'
import { Card } from '../ui/layout.js'
import { Time } from '../ui/values.js'
import { useLoad } from '../useLoad.js'

interface AttentionProps {
  readonly account: Account
  readonly activity: Activity | null
}

interface Matter {
  readonly tone: 'bad' | 'warn' | 'plain'
  readonly title: string
  readonly detail: ComponentChildren
}

const longPendingMs = 2 * 60_000
const highShare = 0.8

/** What an owner should look at first; absent where there is nothing. */
export const Attention = ({ account, activity }: AttentionProps) => {
  const counts = activity === null ? null : [activity.pending, activity.failed, activity.confirmed].join()
  const pending = useLoad(
    (signal) => api.get('/dashboard/settlements', { query: { status: 'pending', limit: 50 }, signal }),
    [counts],
  )
  const hasWebhook = account.webhookUrl !== ''
  const failing = useLoad(
    async (signal) =>
      hasWebhook
        ? await api.get('/dashboard/webhook/deliveries', { query: { status: 'failed', limit: 1 }, signal })
        : { ok: true, data: { deliveries: [] } },
    [hasWebhook, counts],
  )
  const matters: readonly Matter[] = [
    ...listPending(pending.data?.settlements ?? []),
    ...listFailed(activity),
    ...listQuota(account),
    ...listWebhook(account, failing.data?.deliveries[0]),
    ...listRestrictions(account),
  ]
  if (matters.length === 0) return null
  return (
    <Card title="Needs attention">
      <ul class="matters">
        {matters.map(({ tone, title, detail }) => (
          <li key={title} class={tone}>
            <span class="dot" aria-hidden="true" />
            <span>
              <strong>{title}</strong> <span class="soft">{detail}</span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const listPending = (
  pending: readonly { readonly id: string; readonly createdAt: string }[],
): readonly Matter[] => {
  const late = pending.filter(({ createdAt }) => Date.now() - new Date(createdAt).getTime() > longPendingMs)
  const oldest = late.at(-1)
  if (oldest === undefined) return []
  return [
    {
      tone: 'warn',
      title: `${count(late.length, 'payment')} pending for long`,
      detail: (
        <>
          The oldest was received <Time at={oldest.createdAt} />.{' '}
          <a href="/console/payments?status=pending">Show them</a>
        </>
      ),
    },
  ]
}

const listFailed = (activity: Activity | null): readonly Matter[] =>
  activity === null || activity.failed === 0
    ? []
    : [
        {
          tone: 'bad',
          title: `${count(activity.failed, 'payment')} failed in 24 hours`,
          detail: <a href="/console/payments?status=failed">Show them</a>,
        },
      ]

const listQuota = ({ quota: { limit, used } }: Account): readonly Matter[] =>
  limit < 0 || used < highShare * limit
    ? []
    : [
        {
          tone: used >= limit ? 'bad' : 'warn',
          title:
            used >= limit
              ? 'The quota of the month is used up'
              : `${formatShare(used / limit)} of the quota is used`,
          detail: 'Further payments are refused with QUOTA_EXCEEDED once nothing is left.',
        },
      ]

type Delivery = { readonly createdAt: string; readonly lastStatusCode?: number; readonly lastError?: string }

const dayMs = 86_400_000

const listWebhook = ({ webhookUrl }: Account, failed: Delivery | undefined): readonly Matter[] => {
  if (webhookUrl === '') {
    return [
      {
        tone: 'plain',
        title: 'No webhook is set.',
        detail: (
          <>
            Your server learns of outcomes that come after its request only by asking.{' '}
            <a href="/console/webhooks">Set one</a>
          </>
        ),
      },
    ]
  }
  if (failed === undefined || Date.now() - new Date(failed.createdAt).getTime() > dayMs) return []
  const answer = failed.lastError ?? `the receiver answered ${failed.lastStatusCode ?? 'nothing'}`
  return [{ tone: 'bad', title: 'The webhook fails', detail: `The last message was given up: ${answer}.` }]
}

const listRestrictions = ({ allowedIPs, allowedRef }: Account): readonly Matter[] =>
  allowedIPs !== null || allowedRef !== null
    ? []
    : [
        {
          tone: 'plain',
          title: 'The key works from everywhere.',
          detail: (
            <>
              <a href="/console/keys">Restrict it</a> to the addresses of your servers, so that a stolen key
              is worth nothing.
            </>
          ),
        },
      ]

const count = (amount: number, noun: string): string =>
  `${formatCount(amount)} ${noun}${amount === 1 ? '' : 's'}`
