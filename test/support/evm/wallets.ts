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

/** Deploys a counterfactual wallet. */
interface WalletDeployment {
  readonly factory: Address
  readonly factoryData: Hex
}

export interface PayerWallet {
  readonly address: Address
  /** In the form that the wallet's on-chain check accepts, without an ERC-6492 wrapper. */
  signTypedData(typedData: TypedDataDefinition): Promise<Hex>
  /** Null: already deployed, or an EOA. */
  readonly deployment: WalletDeployment | null
}

export interface EoaWallet extends PayerWallet {
  readonly privateKey: Hex
  readonly account: PrivateKeyAccount
}

/** A contract wallet with one owner. */
export interface ContractWallet extends PayerWallet {
  readonly owner: EoaWallet
  readonly deployment: WalletDeployment
}

interface TransferAuthorizationToSign {
  readonly wallet: PayerWallet
  readonly domain: TokenDomain
  readonly authorization: WireAuthorization
}

/** Behavior of a hostile wallet's signature check; ordered as in the contract. */
export const moods = ['acceptsAll', 'refusesAll', 'acceptsInSimulation', 'burnsGas', 'returnsMuch'] as const

type Mood = (typeof moods)[number]

/** Published addresses of Safe 1.4.1, the same on every chain. */
const safeAddresses = {
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
/** Functions of `HostileFactory`; combine with `{ ...wallet, deployment }`. */
export const hostileFactoryAbi = parseAbi([
  'function lastCaller() view returns (address)',
  'function getAddress(bytes32 salt, uint8 mood) view returns (address)',
  'function deploy(bytes32 salt, uint8 mood)',
  'function deployNothing()',
  'function burnGas(uint256 gasToBurn, bytes32 salt, uint8 mood)',
  'function burnEverything()',
  'function callAndDeploy(address target, bytes data, bytes32 salt, uint8 mood)',
])

/** A new key by default. */
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

/** Deployed on first use. */
export const getSoladyFactory = (chain: LocalChain): Promise<Address> => {
  const factory = soladyFactories.get(chain) ?? deploySoladyFactory(chain)
  soladyFactories.set(chain, factory)
  return factory
}

/**
 * A Solady wallet that is not deployed yet. Its signatures are nested (ERC-7739) and longer than 65 bytes.
 */
export const createSoladyWallet = async (
  chain: LocalChain,
  owner: EoaWallet = createEoa(),
): Promise<ContractWallet> => {
  const factory = await getSoladyFactory(chain)
  // The factory reads the owner from the upper 20 bytes of the salt.
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
    // The singleton's constructor sets the threshold, slot 4, which prevents a takeover.
    {
      method: 'anvil_setStorageAt',
      params: [safeAddresses.singleton, numberToHex(4, { size: 32 }), numberToHex(1, { size: 32 })],
    },
  ])
}

const safeChains = new WeakMap<LocalChain, Promise<void>>()

/** A Safe 1.4.1 that is not deployed yet, with contracts at their published addresses. */
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

/** Deployed on first use. */
export const getHostileFactory = (chain: LocalChain): Promise<Address> => {
  const factory = hostileFactories.get(chain) ?? chain.deploy(getArtifact('HostileFactory'))
  hostileFactories.set(chain, factory)
  return factory
}

/** A contract wallet that is not deployed yet; its mood decides every signature check. */
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

/** Its signatures need no ERC-6492 wrapper. */
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
 * An EOA with an EIP-7702 delegation whose code checks the key's signatures (EIP-1271), or none: USDC then
 * rejects.
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
    // The account itself sends the delegating transaction, with nonce 0.
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

/** Wrapped (ERC-6492) when the wallet is not deployed yet. */
export const signTransferAuthorization = async (toSign: TransferAuthorizationToSign): Promise<Hex> => {
  const { wallet, domain, authorization } = toSign
  const signature = await wallet.signTypedData(transferAuthorizationTypedData(domain, authorization))
  if (wallet.deployment === null) return signature
  const { factory, factoryData } = wallet.deployment
  return serializeErc6492Signature({ address: factory, data: factoryData, signature })
}
