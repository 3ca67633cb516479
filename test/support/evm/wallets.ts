import {
  type Address,
  concatHex,
  encodeDeployData,
  encodeFunctionData,
  encodePacked,
  getContractAddress,
  type Hex,
  hashTypedData,
  hexToBigInt,
  keccak256,
  numberToHex,
  parseAbi,
  serializeErc6492Signature,
  type TypedDataDefinition,
  zeroAddress,
  zeroHash,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { hashTypedData as hashNestedTypedData, wrapTypedDataSignature } from 'viem/experimental/erc7739'
import { getArtifact, getPackagedArtifact } from '../contracts/artifacts.js'
import { randomHex, transferAuthorizationTypedData, type WireAuthorization } from './authorization.js'
import { callRpcBatch } from './jsonRpc.js'
import type { LocalChain, TokenDomain } from './localChain.js'

/** The call that brings a counterfactual wallet to its address. */
export interface WalletDeployment {
  readonly factory: Address
  readonly factoryData: Hex
}

/** A payer: an address, and a way to sign for it. */
export interface PayerWallet {
  readonly address: Address
  /** Signs in the form that the wallet's own check on chain accepts, without an EIP-6492 wrapper. */
  signTypedData(typedData: TypedDataDefinition): Promise<Hex>
  /** How to deploy the wallet, or null when nothing needs to be deployed. */
  readonly deployment: WalletDeployment | null
}

/** A payer that is an ordinary key. */
export interface EoaWallet extends PayerWallet {
  readonly privateKey: Hex
  readonly account: PrivateKeyAccount
}

/** A payer that is a contract with one owner. */
export interface ContractWallet extends PayerWallet {
  readonly owner: EoaWallet
  readonly deployment: WalletDeployment
}

/** What `signTransferAuthorization` signs. */
export interface TransferAuthorizationToSign {
  readonly wallet: PayerWallet
  readonly domain: TokenDomain
  readonly authorization: WireAuthorization
}

/** How a hostile wallet answers when it is asked about a signature; the order is the contract's. */
export const moods = ['acceptsAll', 'refusesAll', 'acceptsInSimulation', 'burnsGas'] as const

/** One of `moods`. */
export type Mood = (typeof moods)[number]

/** The published addresses of Safe 1.4.1, the same on every chain. */
export const safeAddresses = {
  singleton: '0x41675C099F32341bf84BFc5382aF534df5C7461a',
  proxyFactory: '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
  fallbackHandler: '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99',
} as const

const soladyFactoryAbi = parseAbi([
  'function createAccount(bytes32 ownSalt) payable returns (address)',
  'function getAddress(bytes32 ownSalt) view returns (address)',
])
const safeAbi = parseAbi([
  'function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce) returns (address)',
  'function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
])
/** What `HostileFactory` can do to whoever calls it; `{ ...wallet, deployment }` makes it part of a payment. */
export const hostileFactoryAbi = parseAbi([
  'function lastCaller() view returns (address)',
  'function getAddress(bytes32 salt, uint8 mood) view returns (address)',
  'function deploy(bytes32 salt, uint8 mood)',
  'function deployNothing()',
  'function burnGas(uint256 gasToBurn, bytes32 salt, uint8 mood)',
  'function burnEverything()',
  'function callAndDeploy(address target, bytes data, bytes32 salt, uint8 mood)',
])

/** A payer with an ordinary key, a fresh one unless given. */
export const createEoa = (privateKey: Hex = generatePrivateKey()): EoaWallet => {
  const account = privateKeyToAccount(privateKey)
  return {
    address: account.address,
    privateKey,
    account,
    signTypedData: (typedData) => account.signTypedData(typedData),
    deployment: null,
  }
}

const soladyFactories = new WeakMap<LocalChain, Promise<Address>>()

const deploySoladyFactory = async (chain: LocalChain): Promise<Address> => {
  const implementation = await chain.deploy(getArtifact('SoladyWallet'))
  return chain.deploy({ ...getArtifact('SoladyWalletFactory'), args: [implementation] })
}

/** The factory of the Solady wallets on a chain; deployed when it is first asked for. */
export const getSoladyFactory = (chain: LocalChain): Promise<Address> => {
  const factory = soladyFactories.get(chain) ?? deploySoladyFactory(chain)
  soladyFactories.set(chain, factory)
  return factory
}

/**
 * A payer that is a Solady smart wallet with one owner, not deployed yet. Its signatures are nested after
 * ERC-7739 and longer than 65 bytes.
 */
export const createSoladyWallet = async (
  chain: LocalChain,
  owner: EoaWallet = createEoa(),
): Promise<ContractWallet> => {
  const factory = await getSoladyFactory(chain)
  // The factory takes the owner from the upper 20 bytes of the salt.
  const ownSalt = concatHex([owner.address, randomHex(12)])
  const address = await chain.client.readContract({
    address: factory,
    abi: soladyFactoryAbi,
    functionName: 'getAddress',
    args: [ownSalt],
  })
  const verifierDomain = {
    name: 'SoladyWallet',
    version: '1',
    chainId: chain.chainId,
    verifyingContract: address,
    salt: zeroHash,
  }
  return {
    address,
    owner,
    signTypedData: async (typedData) => {
      const digest = hashNestedTypedData({ ...typedData, verifierDomain })
      const signature = await owner.account.sign({ hash: digest })
      return wrapTypedDataSignature({ ...typedData, signature })
    },
    deployment: {
      factory,
      factoryData: encodeFunctionData({
        abi: soladyFactoryAbi,
        functionName: 'createAccount',
        args: [ownSalt],
      }),
    },
  }
}

const safePackage = '@safe-global/safe-contracts/build/artifacts/contracts'
const safeFactoryArtifact = `${safePackage}/proxies/SafeProxyFactory.sol/SafeProxyFactory.json`
const safeProxyArtifact = `${safePackage}/proxies/SafeProxy.sol/SafeProxy.json`

const deploySafeContracts = async (chain: LocalChain): Promise<void> => {
  const codes = [
    [safeAddresses.singleton, `${safePackage}/Safe.sol/Safe.json`],
    [safeAddresses.proxyFactory, safeFactoryArtifact],
    [
      safeAddresses.fallbackHandler,
      `${safePackage}/handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json`,
    ],
  ] as const
  await callRpcBatch(chain.url, [
    ...codes.map(([address, path]) => ({
      method: 'anvil_setCode',
      params: [address, getPackagedArtifact(path).deployedBytecode],
    })),
    // The singleton's constructor sets the threshold, slot 4, so that nobody can take it over.
    {
      method: 'anvil_setStorageAt',
      params: [safeAddresses.singleton, numberToHex(4, { size: 32 }), numberToHex(1, { size: 32 })],
    },
  ])
}

const safeChains = new WeakMap<LocalChain, Promise<void>>()

/** A payer that is a Safe 1.4.1 with one owner, not deployed yet; its contracts are at their usual addresses. */
export const createSafeWallet = async (
  chain: LocalChain,
  owner: EoaWallet = createEoa(),
): Promise<ContractWallet> => {
  const contracts = safeChains.get(chain) ?? deploySafeContracts(chain)
  safeChains.set(chain, contracts)
  await contracts
  const { singleton, proxyFactory, fallbackHandler } = safeAddresses
  const initializer = encodeFunctionData({
    abi: safeAbi,
    functionName: 'setup',
    args: [[owner.address], 1n, zeroAddress, '0x', fallbackHandler, zeroAddress, 0n, zeroAddress],
  })
  const saltNonce = hexToBigInt(randomHex(32))
  const { abi, bytecode } = getPackagedArtifact(safeProxyArtifact)
  const address = getContractAddress({
    opcode: 'CREATE2',
    from: proxyFactory,
    salt: keccak256(encodePacked(['bytes32', 'uint256'], [keccak256(initializer), saltNonce])),
    bytecode: encodeDeployData({ abi, bytecode, args: [singleton] }),
  })
  return {
    address,
    owner,
    signTypedData: (typedData) =>
      owner.account.signTypedData({
        domain: { chainId: chain.chainId, verifyingContract: address },
        types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
        primaryType: 'SafeMessage',
        message: { message: hashTypedData(typedData) },
      }),
    deployment: {
      factory: proxyFactory,
      factoryData: encodeFunctionData({
        abi: safeAbi,
        functionName: 'createProxyWithNonce',
        args: [singleton, initializer, saltNonce],
      }),
    },
  }
}

const hostileFactories = new WeakMap<LocalChain, Promise<Address>>()

/** The factory of the hostile wallets on a chain; deployed when it is first asked for. */
export const getHostileFactory = (chain: LocalChain): Promise<Address> => {
  const factory = hostileFactories.get(chain) ?? chain.deploy(getArtifact('HostileFactory'))
  hostileFactories.set(chain, factory)
  return factory
}

/** A payer that is a contract wallet whose answer to any signature is its mood, not deployed yet. */
export const createMoodyWallet = async (chain: LocalChain, mood: Mood): Promise<ContractWallet> => {
  const factory = await getHostileFactory(chain)
  const owner = createEoa()
  const args = [randomHex(32), moods.indexOf(mood)] as const
  const address = await chain.client.readContract({
    address: factory,
    abi: hostileFactoryAbi,
    functionName: 'getAddress',
    args,
  })
  return {
    address,
    owner,
    signTypedData: owner.signTypedData,
    deployment: {
      factory,
      factoryData: encodeFunctionData({ abi: hostileFactoryAbi, functionName: 'deploy', args }),
    },
  }
}

/** Deploys a contract wallet; signatures of the answer need no EIP-6492 wrapper. */
export const deployWallet = async (chain: LocalChain, wallet: PayerWallet): Promise<PayerWallet> => {
  if (wallet.deployment === null) return wallet
  const sender = createEoa()
  await chain.fundGas(sender.address)
  const { factory, factoryData } = wallet.deployment
  const { status } = await chain.send({
    account: sender.account,
    to: factory,
    data: factoryData,
    gas: 5_000_000n,
  })
  const code = await chain.client.getCode({ address: wallet.address })
  if (status !== 'success' || code === undefined) throw new Error(`${wallet.address} could not be deployed`)
  return { ...wallet, deployment: null }
}

/**
 * A payer with an ordinary key whose account is delegated to a contract after EIP-7702: one that checks
 * signatures of the key after EIP-1271, or one that checks none, so that USDC refuses whatever the key signs.
 */
export const createDelegatedEoa = async (
  chain: LocalChain,
  { checksSignatures }: { readonly checksSignatures: boolean },
): Promise<EoaWallet> => {
  const wallet = createEoa()
  const contractAddress = await chain.deploy(
    getArtifact(checksSignatures ? 'Delegate1271' : 'DelegateWithout1271'),
  )
  await chain.fundGas(wallet.address)
  const delegation = await wallet.account.signAuthorization({
    contractAddress,
    chainId: chain.chainId,
    // The transaction that carries the delegation comes from the account itself and takes nonce 0.
    nonce: 1,
  })
  const { status } = await chain.send({
    account: wallet.account,
    to: wallet.address,
    authorizationList: [delegation],
    gas: 200_000n,
  })
  const code = await chain.client.getCode({ address: wallet.address })
  if (status !== 'success' || code === undefined) throw new Error('The account could not be delegated')
  return wallet
}

/** Signs an authorization as the wallet, wrapped after EIP-6492 when the wallet is not deployed yet. */
export const signTransferAuthorization = async (toSign: TransferAuthorizationToSign): Promise<Hex> => {
  const { wallet, domain, authorization } = toSign
  const signature = await wallet.signTypedData(transferAuthorizationTypedData(domain, authorization))
  if (wallet.deployment === null) return signature
  const { factory, factoryData } = wallet.deployment
  return serializeErc6492Signature({ address: factory, data: factoryData, signature })
}
