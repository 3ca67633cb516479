import { useId } from 'preact/hooks'
import { useStore } from '../store.js'
import { operatorName } from './session.js'

/** Operators share one token: the audit names who did it only if they say so. */
export const NameField = () => {
  const name = useStore(operatorName)
  const id = useId()
  return (
    <div>
      <label for={id}>Your name, for the audit (optional)</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        spellcheck={false}
        maxLength={100}
        value={name}
        onInput={(event) => operatorName.set(event.currentTarget.value)}
      />
    </div>
  )
}
