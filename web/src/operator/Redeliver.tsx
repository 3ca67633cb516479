import { useId, useState } from 'preact/hooks'
import type { Schemas } from '../api.js'
import { Confirm } from '../ui/Confirm.js'
import { Card } from '../ui/layout.js'
import { useAction } from '../useAction.js'
import { NameField } from './NameField.js'
import { operatorApi, readOperatorName } from './session.js'

type Delivery = Schemas['WebhookDelivery']

/** Of any account, by the id that its owner or a log names. */
export const Redeliver = () => {
  const [text, setText] = useState('')
  const [asked, setAsked] = useState<string | null>(null)
  const [due, setDue] = useState<Delivery | null>(null)
  const change = useAction()
  const id = useId()
  const submit = (event: Event) => {
    event.preventDefault()
    setDue(null)
    setAsked(text.trim())
  }
  const close = () => {
    setAsked(null)
    change.clear()
  }
  const send = async (delivery: string) => {
    const changed = await change.run(() =>
      operatorApi.post('/v1/operator/deliveries/{id}/redeliver', {
        params: { id: delivery },
        query: readOperatorName(),
      }),
    )
    if (changed === null) return
    close()
    setDue(changed)
  }
  return (
    <Card title="Send a webhook again">
      <form onSubmit={submit}>
        <label for={id}>Id of the delivery</label>
        <input
          id={id}
          type="text"
          required
          maxLength={64}
          autocomplete="off"
          spellcheck={false}
          placeholder="As in the header webhook-id"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button">
          Send it again
        </button>
      </form>
      {due === null ? null : (
        <div class="note good" role="status">
          <p>
            <strong>It is due.</strong> {due.type}, <code>{due.id}</code>
          </p>
        </div>
      )}
      {asked === null ? null : (
        <Confirm
          title="Send a webhook again"
          action="Send"
          {...change}
          onConfirm={() => void send(asked)}
          onClose={close}
        >
          <p>
            The receiver of the account gets <code>{asked}</code> once more, with the same id. It counts
            against the 60 redeliveries a minute of the account.
          </p>
          <NameField />
        </Confirm>
      )}
    </Card>
  )
}
