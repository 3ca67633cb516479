import { nameOf, networks } from '../networks.js'
import type { Activity } from '../session.js'
import { useStore } from '../store.js'
import { Card } from '../ui/layout.js'
import { Plot } from '../ui/Plot.js'

const hourSeconds = 3_600

interface ActivityPlotProps {
  readonly title: string
  /** Null: not loaded. */
  readonly activity: Activity | null
  readonly unit: 'hour' | 'day'
}

/** Confirmed payments by network; days are those of the reader's time zone. */
export const ActivityPlot = ({ title, activity, unit }: ActivityPlotProps) => {
  useStore(networks)
  if (activity === null) {
    return (
      <Card title={title}>
        <div class="plot-room" />
      </Card>
    )
  }
  const times = listTimes(activity, unit)
  const series = activity.networks.map(({ network }) => {
    const counts = new Map<number, number>()
    for (const bucket of activity.buckets) {
      if (bucket.network !== network) continue
      const at = startOf(new Date(bucket.at), unit)
      counts.set(at, (counts.get(at) ?? 0) + bucket.confirmed)
    }
    return { label: nameOf(network), values: times.map((time) => counts.get(time) ?? 0) }
  })
  return (
    <Card title={title}>
      <Plot
        label={`Confirmed payments by network, ${title}`}
        times={times}
        series={series}
        formatTime={(date) => (unit === 'hour' ? hourForm : dayForm).format(date)}
      />
    </Card>
  )
}

const hourForm = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false })
const dayForm = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' })

/** Unix seconds. */
const startOf = (date: Date, unit: 'hour' | 'day'): number => {
  const start = new Date(date)
  if (unit === 'hour') start.setMinutes(0, 0, 0)
  else start.setHours(0, 0, 0, 0)
  return start.getTime() / 1_000
}

/** Up to now, oldest first; a day of a change of clocks has 23 or 25 hours. */
const listTimes = ({ hours }: Pick<Activity, 'hours'>, unit: 'hour' | 'day'): readonly number[] => {
  const now = Date.now()
  const times = Array.from({ length: hours }, (_, index) => new Date(now - index * hourSeconds * 1_000))
  return [...new Set(times.map((time) => startOf(time, unit)))].reverse()
}
