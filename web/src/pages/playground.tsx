import { useState } from 'preact/hooks'
import { networks } from '../networks.js'
import type { Plan } from '../playground/plan.js'
import { planFixedPayer } from '../playground/plan.js'
import { SandboxPayers } from '../playground/SandboxPayers.js'
import { WalkView } from '../playground/WalkView.js'
import { WalletForm } from '../playground/WalletForm.js'
import { api, session } from '../session.js'
import { useStore } from '../store.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Empty, Page } from '../ui/layout.js'
import { useLoad } from '../useLoad.js'
import type { ConsolePage } from './page.js'
import { SignIn } from './signIn.js'

const Playground = () => {
  const { account, reason } = useStore(session)
  const known = useStore(networks)
  const { data, error, reload } = useLoad((signal) => api.get('/info', { signal }), [])
  if (data?.features.apiKeyRequired === true && account === null) return <SignIn reason={reason} />
  const isSandbox = data?.features.sandbox === true
  const payable = known.filter(({ network, isTestnet }) => isTestnet && network.startsWith('eip155:'))
  return (
    <Page title="Playground" lead="Take a payment step by step, and see what travels.">
      {error === null ? null : <ErrorNote error={error} onRetry={reload} />}
      {data === null || known.length === 0 ? null : isSandbox ? (
        <Bench first={planFixedPayer('CAFE11', 'eip155:84532')}>
          {(plan, choose) => (
            <>
              <SandboxPayers chosen={plan} onChoose={choose} />
              <details class="other">
                <summary>Or sign with a wallet or a key of yours</summary>
                <WalletForm networks={payable} needsMoney={false} onChoose={choose} />
              </details>
            </>
          )}
        </Bench>
      ) : payable.length > 0 ? (
        <Bench first={null}>
          {(_plan, choose) => <WalletForm networks={payable} needsMoney onChoose={choose} />}
        </Bench>
      ) : (
        <Refusal hasMainnet={known.some(({ isTestnet }) => !isTestnet)} />
      )}
    </Page>
  )
}

interface BenchProps {
  readonly first: Plan | null
  readonly children: (plan: Plan | null, choose: (plan: Plan) => void) => preact.ComponentChildren
}

/** Another plan starts from its first step. */
const Bench = ({ first, children }: BenchProps) => {
  const [{ plan, round }, setChosen] = useState({ plan: first, round: 0 })
  const choose = (next: Plan) => setChosen({ plan: next, round: round + 1 })
  return (
    <div class="bench">
      {children(plan, choose)}
      {plan === null ? null : <WalkView key={round} plan={plan} />}
    </div>
  )
}

const Refusal = ({ hasMainnet }: { readonly hasMainnet: boolean }) => (
  <Empty
    title={
      hasMainnet
        ? 'This instance serves real money, and the playground makes test payments only.'
        : 'This instance serves no test network that a wallet of the browser can pay on.'
    }
  >
    <p>
      An instance with a testnet has it, <code>npm run demo</code>, and a sandbox: <code>npm start</code>{' '}
      without a chain.
    </p>
  </Empty>
)

export const playgroundPage: ConsolePage = {
  path: '/console/playground',
  label: 'Playground',
  isOpen: true,
  render: () => <Playground />,
}
