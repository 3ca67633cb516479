import { useId, useState } from 'preact/hooks'
import { readUnits } from '../format.js'
import type { NetworkNames } from '../networks.js'
import { createStore, useStore } from '../store.js'
import { Code, CodeBlock } from '../ui/copy.js'
import { Card } from '../ui/layout.js'
import { type Plan, planWallet } from './plan.js'
import { connectWallet, findProvider, isAddress, type Signer } from './signer.js'
import { WalkError } from './typedData.js'

interface WalletFormProps {
  /** Testnets of EVM. */
  readonly networks: readonly NetworkNames[]
  /** A sandbox does not ask for a balance. */
  readonly needsMoney: boolean
  readonly onChoose: (plan: Plan) => void
}

// There is no key for it.
const deadAddress = '0x000000000000000000000000000000000000dEaD'

/** Lives as long as the page: another page of the console does not lose what was funded. */
const chosenSigner = createStore<Signer | null>(null)

export const WalletForm = ({ networks, needsMoney, onChoose }: WalletFormProps) => {
  const signer = useStore(chosenSigner)
  const [form, setForm] = useState({
    network: networks[0]?.network ?? '',
    asset: '',
    amount: '0.01',
    payTo: deadAddress,
  })
  const [problem, setProblem] = useState<string | null>(null)
  const id = useId()
  const network = networks.find((each) => each.network === form.network) ?? networks[0]
  const token = network?.tokens.find(({ asset }) => asset === form.asset) ?? network?.tokens[0]
  if (network === undefined || token === undefined) return null

  const change = (part: Partial<typeof form>) => {
    setForm({ ...form, ...part })
    setProblem(null)
  }
  const choose = (event: Event) => {
    event.preventDefault()
    const amount = readUnits(form.amount, token.decimals)
    const payTo = form.payTo.trim()
    if (signer === null) return setProblem('Choose who signs')
    if (amount === null || amount === 0n || amount > 10n ** BigInt(token.decimals)) {
      return setProblem(`Enter an amount above 0, and at most 1 ${token.symbol}`)
    }
    if (!isAddress(payTo)) return setProblem('Enter an address of the recipient')
    setProblem(null)
    const { isTestnet } = network
    onChoose(
      planWallet({
        signer,
        network: network.network,
        isTestnet,
        asset: token.asset,
        payTo,
        amount: `${amount}`,
      }),
    )
  }
  return (
    <Card title="A wallet or a key of yours">
      <form class="pay" onSubmit={choose} noValidate>
        <SignerChoice signer={signer} onProblem={setProblem} />
        <div class="pay-fields">
          <div>
            <label for={`${id}-network`}>Network</label>
            <select
              id={`${id}-network`}
              value={network.network}
              onInput={(event) => change({ network: event.currentTarget.value, asset: '' })}
            >
              {networks.map((each) => (
                <option key={each.network} value={each.network}>
                  {each.name}
                </option>
              ))}
            </select>
          </div>
          <div>
            <label for={`${id}-token`}>Token</label>
            <select
              id={`${id}-token`}
              value={token.asset}
              onInput={(event) => change({ asset: event.currentTarget.value })}
            >
              {network.tokens.map((each) => (
                <option key={each.asset} value={each.asset}>
                  {each.symbol}
                </option>
              ))}
            </select>
          </div>
          <div>
            <label for={`${id}-amount`}>Amount, at most 1</label>
            <input
              id={`${id}-amount`}
              inputMode="decimal"
              maxLength={24}
              value={form.amount}
              onInput={(event) => change({ amount: event.currentTarget.value })}
              aria-describedby={`${id}-problem`}
            />
          </div>
          <div class="grow">
            <label for={`${id}-to`}>Recipient</label>
            <input
              id={`${id}-to`}
              spellcheck={false}
              maxLength={64}
              value={form.payTo}
              onInput={(event) => change({ payTo: event.currentTarget.value })}
              aria-describedby={`${id}-problem`}
            />
          </div>
        </div>
        {form.payTo.trim() === deadAddress ? (
          <p class="small soft">
            Nobody has a key of this recipient: enter an address of yours to keep the test money.
          </p>
        ) : null}
        <p id={`${id}-problem`} class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="button">
          Use this payment
        </button>
      </form>
      {signer?.kind === 'key' && needsMoney ? (
        <Funding address={signer.address} symbol={token.symbol} />
      ) : null}
    </Card>
  )
}

interface SignerChoiceProps {
  readonly signer: Signer | null
  readonly onProblem: (problem: string | null) => void
}

const SignerChoice = ({ signer, onProblem }: SignerChoiceProps) => {
  const [isBusy, setBusy] = useState(false)
  const take = async (open: () => Promise<Signer>) => {
    setBusy(true)
    onProblem(null)
    try {
      chosenSigner.set(await open())
    } catch (error) {
      onProblem(error instanceof WalkError ? error.message : 'The key could not be made: load the page again')
    } finally {
      setBusy(false)
    }
  }
  const connect = () =>
    take(async () => {
      const provider = findProvider()
      if (provider === null)
        throw new WalkError('This browser has no wallet: its extension is missing or locked out')
      return await connectWallet(provider)
    })
  // What signs in the page is loaded on first use.
  const makeKey = () => take(async () => (await import('./throwAwayKey.js')).createThrowAwayKey())
  return (
    <div class="signer">
      <div class="actions">
        <button type="button" class="button" disabled={isBusy} onClick={() => void connect()}>
          Connect a wallet
        </button>
        <button type="button" class="button" disabled={isBusy} onClick={() => void makeKey()}>
          {signer?.kind === 'key' ? 'Make another throw-away key' : 'Make a throw-away key'}
        </button>
      </div>
      <p class="small soft">
        A throw-away key is for test money: it exists in the memory of this tab, and is gone when you leave or
        reload the page.
      </p>
      {signer === null ? null : (
        <div role="status">
          <p class="small">{signer.kind === 'wallet' ? 'Your wallet pays:' : 'The throw-away key pays:'}</p>
          <Code text={signer.address} label="address of the payer" />
        </div>
      )}
    </div>
  )
}

const Funding = ({ address, symbol }: { readonly address: string; readonly symbol: string }) => (
  <div class="funding">
    <p>
      It starts without money. Send it test {symbol} on this network; it needs none for gas, which the
      facilitator pays.{isThisMachine() ? ' The faucet of the demo (npm run demo) sends 5:' : ''}
    </p>
    {isThisMachine() ? (
      <CodeBlock
        label="Command that funds the key in the demo"
        text={`curl -s -X POST 'http://127.0.0.1:4021/faucet?address=${address}'`}
      />
    ) : null}
  </div>
)

const isThisMachine = (): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)
