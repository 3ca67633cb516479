import { useEffect } from 'preact/hooks'
import { useExplain } from '../explain/useExplain.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Rules } from '../ui/Rules.js'
import type { PaymentBody } from './payment.js'
import type { StepResult } from './steps.js'

interface ExplainPaymentProps {
  readonly payment: PaymentBody
  /** Another answer of /verify has another explanation. */
  readonly verified: StepResult
}

export const ExplainPayment = ({ payment, verified }: ExplainPaymentProps) => {
  const { explanation, error, isBusy, ask, clear } = useExplain()
  useEffect(() => clear(), [verified])
  return (
    <>
      <div class="actions after">
        <button
          type="button"
          class="button"
          disabled={isBusy}
          onClick={() => void ask(JSON.stringify(payment))}
        >
          {isBusy ? 'Asking …' : 'Explain'}
        </button>
        <a href="/console/explain">Explain another payment</a>
      </div>
      {error === null ? null : <ErrorNote error={error} />}
      <Rules explanation={explanation} />
    </>
  )
}
