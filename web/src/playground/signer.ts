import { isObject } from './json.js'
import { readChainId, type TypedData, WalkError } from './typedData.js'

/** Who pays, and signs for it. */
export interface Signer {
  readonly kind: 'wallet' | 'key'
  readonly address: string
  sign(typedData: TypedData): Promise<string>
}

/** EIP-1193. */
interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

/** The wallet that an extension of the browser put into the page; null: there is none. */
export const findProvider = (): Provider | null => {
  const found: unknown = Reflect.get(window, 'ethereum')
  return isProvider(found) ? found : null
}

const isProvider = (value: unknown): value is Provider =>
  (isObject(value) || typeof value === 'function') && typeof Reflect.get(value, 'request') === 'function'

/** Asks its user for an account. */
export const connectWallet = async (provider: Provider): Promise<Signer> => {
  const accounts = await ask(provider, 'eth_requestAccounts')
  const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (!isAddress(address)) throw new WalkError('The wallet named no account')
  return {
    kind: 'wallet',
    address,
    sign: async (typedData) => {
      await switchChain(provider, typedData.domain.chainId)
      const signature = await ask(provider, 'eth_signTypedData_v4', [address, JSON.stringify(typedData)])
      if (typeof signature !== 'string' || !signatureForm.test(signature)) {
        throw new WalkError('The wallet returned no signature')
      }
      return signature
    },
  }
}

// Those of contract wallets are longer than 65 bytes.
const signatureForm = /^0x(?:[0-9a-f]{2}){64,8192}$/i

/** In hex digits of any case. */
export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)

/** Nothing is signed unless the wallet is on the chain afterwards. */
const switchChain = async (provider: Provider, chainId: number): Promise<void> => {
  const wanted = `0x${chainId.toString(16)}`
  if ((await readChain(provider)) === chainId) return
  await ask(provider, 'wallet_switchEthereumChain', [{ chainId: wanted }])
  if ((await readChain(provider)) !== chainId) {
    throw new WalkError(`The wallet is not on chain ${chainId}, and signed nothing`)
  }
}

const readChain = async (provider: Provider): Promise<number> => {
  const answer = await ask(provider, 'eth_chainId')
  return Number(answer)
}

const codes: Readonly<Record<number, string>> = {
  4001: 'You declined in the wallet; nothing was signed',
  4100: 'The wallet does not allow this page its account',
  4902: 'The wallet does not know this chain: add it there, and sign again',
  [-32002]: 'The wallet is still asking you: answer there first',
}

const ask = async (provider: Provider, method: string, params: readonly unknown[] = []): Promise<unknown> => {
  try {
    return await provider.request({ method, params })
  } catch (error) {
    const [code, message] = isObject(error) ? [error.code, error.message] : []
    const known = typeof code === 'number' ? codes[code] : undefined
    const said = typeof message === 'string' ? `: ${message.slice(0, 300)}` : ''
    throw new WalkError(known ?? `The wallet refused ${method}${said}`)
  }
}

/** Payments of the playground are tests: real money leaves by a shop, and not by this page. */
export const refuseMainnet = (network: string, isTestnet: boolean): void => {
  readChainId(network)
  if (!isTestnet) throw new WalkError(`${network} is a mainnet: the playground signs no real payment`)
}
