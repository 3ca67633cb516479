import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { formatCount } from '../format.js'

export interface Series {
  readonly label: string
  readonly values: readonly number[]
}

interface PlotProps {
  /** Says what the picture shows. */
  readonly label: string
  /** Unix seconds, at equal distances. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly formatTime: (date: Date) => string
}

const height = 180

/** Stacked bars, with their legend; the same numbers are in a table for readers of the screen. */
export const Plot = ({ label, times, series, formatTime }: PlotProps) => {
  const holder = useRef<HTMLDivElement>(null)
  const numbers = JSON.stringify([times, series])
  useEffect(() => {
    const element = holder.current
    if (element === null) return
    const draw = () => drawBars(element, { times, series, formatTime })
    let plot = draw()
    const redraw = () => {
      plot.destroy()
      plot = draw()
    }
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', redraw)
    return () => {
      resized.disconnect()
      dark.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [numbers])
  return (
    <figure class="plot">
      <div ref={holder} aria-hidden="true" />
      <ul class="legend" aria-hidden="true">
        {series.map(({ label: name, values }, index) => (
          <li key={name}>
            <span class={`swatch tone-${index % tones}`} />
            {name} <span class="soft">{formatCount(sum(values))}</span>
          </li>
        ))}
      </ul>
      <figcaption class="hidden">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ label: name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, row) => (
              <tr key={time}>
                <th scope="row">{formatTime(new Date(time * 1_000))}</th>
                {series.map(({ label: name, values }) => (
                  <td key={name}>{values[row] ?? 0}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </figcaption>
    </figure>
  )
}

const tones = 6
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const drawBars = (
  element: HTMLElement,
  { times, series, formatTime }: Pick<PlotProps, 'times' | 'series' | 'formatTime'>,
): uPlot => {
  const style = getComputedStyle(element)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const bars = uPlot.paths.bars?.({ size: [0.72, 40], radius: 0.15 })
  // The sum of all is drawn first, and the sums of fewer over it.
  const layers = series.map((_, index) => ({
    color: color(`--tone-${index % tones}`),
    values: times.map((_time, at) => sum(series.slice(0, index + 1).map(({ values }) => values[at] ?? 0))),
  }))
  const drawn = layers.toReversed()
  const step = (times[1] ?? 1) - (times[0] ?? 0)
  const every = Math.ceil(times.length / Math.max(2, Math.floor(element.clientWidth / 64)))
  // Counted from the newest, which always has a label.
  const labelled = times.filter((_time, at) => (times.length - 1 - at) % every === 0)
  const font = `11px ${color('--sans')}`
  const axis = { stroke: color('--soft'), font, ticks: { show: false } }
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 14, 0, 0],
      scales: {
        // Half a bar on both sides.
        x: { range: (_plot, low, high) => [low - step / 2, high + step / 2] },
        y: { range: (_plot, _low, high) => [0, Math.max(1.1 * high, 4)] },
      },
      axes: [
        {
          ...axis,
          size: 28,
          grid: { show: false },
          splits: () => [...labelled],
          values: (_plot, marks) => marks.map((mark) => formatTime(new Date(mark * 1_000))),
        },
        {
          ...axis,
          size: 44,
          grid: { stroke: color('--line'), width: 1, dash: [2, 4] },
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000],
          values: (_plot, marks) => marks.map(formatCount),
        },
      ],
      series: [
        {},
        ...drawn.map(({ color: fill }) => ({
          fill,
          stroke: fill,
          width: 0,
          points: { show: false },
          ...(bars === undefined ? {} : { paths: bars }),
        })),
      ],
    },
    [[...times], ...drawn.map(({ values }) => values)],
    element,
  )
}
