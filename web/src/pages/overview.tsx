import { useEffect } from 'preact/hooks'
import { formatCount, formatSeconds, formatShare } from '../format.js'
import { onChange } from '../live.js'
import { networks, sumByToken } from '../networks.js'
import { type Account, type Activity, api, refreshAccount, session } from '../session.js'
import { useStore } from '../store.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { FirstPayment } from '../ui/FirstPayment.js'
import { Card, Page } from '../ui/layout.js'
import { PaymentTable } from '../ui/PaymentTable.js'
import { Amount } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import { ActivityPlot } from './activityPlot.js'
import { Attention } from './attention.js'
import { mergeChange } from './mergeChange.js'
import type { ConsolePage } from './page.js'

const newest = { status: undefined, network: undefined, search: undefined, isFirst: true } as const

const Overview = () => {
  const { account } = useStore(session)
  const day = useLoad((signal) => api.get('/dashboard/usage', { query: { hours: 24 }, signal }), [])
  const week = useLoad((signal) => api.get('/dashboard/usage', { query: { hours: 168 }, signal }), [])
  const latest = useLoad((signal) => api.get('/dashboard/settlements', { query: { limit: 8 }, signal }), [])
  useEffect(() => {
    // A burst of payments is counted once.
    let timer: ReturnType<typeof setTimeout> | undefined
    const count = () => {
      timer = undefined
      day.reload()
      week.reload()
      void refreshAccount()
    }
    const stop = onChange((change) => {
      if (change.kind === 'settlement') {
        latest.update((page) => {
          const next = mergeChange(page, change.settlement, newest)
          return { ...next, settlements: next.settlements.slice(0, 8) }
        })
      } else latest.reload()
      timer ??= setTimeout(count, 2_000)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
  const activity = day.data?.settlements
  const isNew = latest.data !== null && latest.data.settlements.length === 0
  if (account === null) return <Page title="Overview">{null}</Page>
  return (
    <Page title="Overview" lead={<>The last 24 hours of {account.project}, up to now.</>}>
      <Attention account={account} activity={activity ?? null} />
      {day.error === null ? null : <ErrorNote error={day.error} onRetry={day.reload} />}
      <Figures account={account} activity={activity ?? null} />
      {isNew ? (
        <FirstPayment />
      ) : (
        <>
          <div class="plots">
            <ActivityPlot title="24 hours" activity={activity ?? null} unit="hour" />
            <ActivityPlot title="7 days" activity={week.data?.settlements ?? null} unit="day" />
          </div>
          <Card title="Latest payments" actions={<a href="/console/payments">All payments</a>}>
            {latest.error === null ? null : <ErrorNote error={latest.error} onRetry={latest.reload} />}
            <PaymentTable payments={latest.data?.settlements ?? []} />
          </Card>
        </>
      )}
    </Page>
  )
}

interface FiguresProps {
  readonly account: Account
  /** Null: not loaded. */
  readonly activity: Activity | null
}

const Figures = ({ account, activity }: FiguresProps) => {
  useStore(networks)
  const closed = activity === null ? 0 : activity.confirmed + activity.failed
  const median = activity?.medianSeconds ?? null
  return (
    <dl class="figures">
      <div>
        <dt>Settled</dt>
        <dd>
          {activity === null || activity.amounts.length === 0 ? (
            <span class="figure">{activity === null ? '…' : '0'}</span>
          ) : (
            sumByToken(activity.amounts)
              .slice(0, 3)
              .map((each) => (
                <span class="figure" key={`${each.network} ${each.asset}`}>
                  <Amount {...each} />
                </span>
              ))
          )}
          <span class="soft">
            {activity === null
              ? ''
              : `${formatCount(activity.confirmed)} ${activity.confirmed === 1 ? 'payment' : 'payments'}${activity.isComplete ? '' : ', of the newest only'}`}
          </span>
        </dd>
      </div>
      <div>
        <dt>Success rate</dt>
        <dd>
          <span class="figure">
            {activity === null ? '…' : closed === 0 ? '–' : formatShare(activity.confirmed / closed)}
          </span>
          <span class="soft">{activity === null ? '' : `${formatCount(activity.failed)} failed`}</span>
        </dd>
      </div>
      <div>
        <dt>Median to confirmation</dt>
        <dd>
          <span class="figure">
            {activity === null ? '…' : median === null ? '–' : formatSeconds(median)}
          </span>
          <span class="soft">{activity === null ? '' : `${formatCount(activity.pending)} pending`}</span>
        </dd>
      </div>
      <Quota account={account} />
    </dl>
  )
}

const Quota = ({ account: { quota, config } }: Pick<FiguresProps, 'account'>) => {
  const isUnlimited = quota.limit < 0
  return (
    <div>
      <dt>Quota, tier {config.name}</dt>
      <dd>
        <span class="figure">
          {formatCount(quota.used)}
          <span class="unit"> {isUnlimited ? 'this month' : `of ${formatCount(quota.limit)}`}</span>
        </span>
        {isUnlimited ? null : (
          <meter
            aria-label="Share of the quota that is used"
            min={0}
            max={quota.limit}
            high={0.8 * quota.limit}
            value={quota.used}
          />
        )}
        <span class="soft">
          {isUnlimited ? 'Unlimited' : <>Resets on {monthDay.format(new Date(quota.resetsAt))}</>}
        </span>
      </dd>
    </div>
  )
}

const monthDay = new Intl.DateTimeFormat(undefined, { month: 'long', day: 'numeric', timeZone: 'UTC' })

export const overviewPage: ConsolePage = { path: '/console', label: 'Overview', render: () => <Overview /> }
