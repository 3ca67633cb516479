import { useReason } from '../reasons.js'
import { Card } from './layout.js'

interface ReasonCardProps {
  readonly title: string
  /** A refusal reason of the API. */
  readonly reason: string | undefined
  readonly message?: string | undefined
}

/** Why something was not paid, when that happens, and what to do about it. */
export const ReasonCard = ({ title, reason, message }: ReasonCardProps) => {
  const known = useReason(reason ?? null)
  return reason === undefined ? null : (
    <Card title={title}>
      <p>
        <strong>{message ?? known?.title ?? reason}.</strong>
      </p>
      {known === null ? null : (
        <>
          <p class="soft">{known.explanation}</p>
          <p class="advice">{known.remedy}</p>
        </>
      )}
      <p class="small">
        <code>{reason}</code>
      </p>
    </Card>
  )
}
