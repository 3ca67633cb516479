import { describeReason, findRemedy, isReason } from '../../../src/protocol/reasons.js'
import { Card } from './layout.js'

interface ReasonCardProps {
  readonly title: string
  /** A refusal reason of the API. */
  readonly reason: string | undefined
  readonly message?: string | undefined
}

/** Why something was not paid, and what to do about it. */
export const ReasonCard = ({ title, reason, message }: ReasonCardProps) =>
  reason === undefined ? null : (
    <Card title={title}>
      <p>
        <strong>{message ?? (isReason(reason) ? describeReason(reason) : reason)}.</strong>
      </p>
      {isReason(reason) ? <p class="advice">{findRemedy(reason).advice}.</p> : null}
      <p class="small">
        <code>{reason}</code>
      </p>
    </Card>
  )
