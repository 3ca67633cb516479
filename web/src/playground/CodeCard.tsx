import { useState } from 'preact/hooks'
import { session } from '../session.js'
import { useStore } from '../store.js'
import { CodeBlock } from '../ui/copy.js'
import { Card } from '../ui/layout.js'
import { Choice } from './Choice.js'
import { type Recorded, snippets } from './snippets.js'
import type { Found } from './steps.js'

/** The steps that were taken, for a terminal or a program. */
export const CodeCard = ({ found }: { readonly found: Found }) => {
  const { key } = useStore(session)
  const [language, setLanguage] = useState('curl')
  const snippet = snippets.find((each) => each.language === language) ?? snippets[0]
  const recorded = readRecorded(found, key !== null)
  return (
    <Card title="The same steps as code">
      {recorded === null || snippet === undefined ? (
        <p class="soft">After the first two steps, they are here with their data.</p>
      ) : (
        <>
          <Choice
            label="Language"
            options={snippets.map((each) => each.language)}
            chosen={snippet.language}
            onChoose={setLanguage}
          />
          <CodeBlock label={`The same steps in ${snippet.language}`} text={snippet.write(recorded)} />
          <p class="run-with small soft">
            Run it with <code>{snippet.command}</code>
            {recorded.hasKey ? (
              <>
                , with your key in <code>QUITTANCE_API_KEY</code>
              </>
            ) : null}
            .
          </p>
        </>
      )}
    </Card>
  )
}

const readRecorded = (
  { drafted, draftBody, payment, idempotencyKey }: Found,
  hasKey: boolean,
): Recorded | null => {
  if (drafted === null || payment === null) return null
  const { paymentPath } = drafted
  return {
    origin: location.origin,
    hasKey,
    draft: draftBody,
    payment: paymentPath === null ? { body: payment } : { path: paymentPath },
    idempotencyKey,
  }
}
