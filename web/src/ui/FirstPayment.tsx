import { isSandbox } from '../session.js'
import { useStore } from '../store.js'
import { CodeBlock } from './copy.js'
import { Empty } from './layout.js'

/** For a project without payments. */
export const FirstPayment = () => {
  const isTest = useStore(isSandbox)
  return (
    <Empty title="No payment yet. The first one appears here by itself.">
      {isTest ? (
        <>
          <p>This is a sandbox: send one of its payments, with your key in the environment.</p>
          <CodeBlock label="Commands that settle a payment" text={sandboxCommands(location.origin)} />
        </>
      ) : (
        <p>
          Give <code>{location.origin}</code> and your key to an x402 or t402 server library, or call{' '}
          <code>POST /settle</code>: the <a href="/docs">API reference</a> has a request to send.
        </p>
      )}
    </Empty>
  )
}

const sandboxCommands = (origin: string): string => `export QUITTANCE_API_KEY=…
curl -s ${origin}/sandbox/payments/CAFE11 > pay.json
curl -s ${origin}/settle -d @pay.json \\
  -H "authorization: Bearer $QUITTANCE_API_KEY" \\
  -H 'content-type: application/json'`
