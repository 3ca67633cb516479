import { useId } from 'preact/hooks'
import type { Result, Schemas } from '../api.js'
import { useAction } from '../useAction.js'
import { ErrorNote } from './ErrorNote.js'

type AtDeadline = Schemas['AtDeadline']['atDeadline']

const choices: Readonly<Record<AtDeadline, string>> = {
  nothing: 'Do nothing',
  capture: 'Capture what is left',
  void: 'Return it to the payer',
}

const isChoice = (text: string): text is AtDeadline => text in choices

/** What is done with holds shortly before their deadline. */
export const AtDeadlineChoice = ({
  label,
  value,
  send,
  onChanged,
}: {
  readonly label: string
  readonly value: AtDeadline
  readonly send: (value: AtDeadline) => Promise<Result<unknown>>
  readonly onChanged: () => void
}) => {
  const id = useId()
  const { run, isBusy, error } = useAction()
  const store = async (chosen: AtDeadline) => {
    if ((await run(() => send(chosen))) !== null) onChanged()
  }
  const change = (select: HTMLSelectElement) => {
    const chosen = select.value
    // Until it is stored, what is stored is shown.
    select.value = value
    if (isChoice(chosen)) void store(chosen)
  }
  return (
    <div>
      <label for={id}>{label}</label>
      <select id={id} value={value} disabled={isBusy} onInput={(event) => change(event.currentTarget)}>
        {Object.entries(choices).map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
      {error === null ? null : <ErrorNote error={error} />}
    </div>
  )
}
