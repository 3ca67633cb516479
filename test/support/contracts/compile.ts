/**
 * Compiles the Solidity sources in this folder into `artifacts.json`, and the product's in `contracts/` into modules of
 * `src/chains/evm/contracts/` (`npm run contracts`); offline and deterministic.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getCreate2Address, type Hex, isHex, keccak256, multicall3Abi, pad } from 'viem'
import { z } from 'zod'
import { deploymentProxy } from '../../../src/chains/evm/contracts/deployedContract.js'
import { showHelp } from '../showHelp.js'

const folder = dirname(fileURLToPath(import.meta.url))
const require = createRequire(import.meta.url)

const outputSchema = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          abi: z.array(z.unknown()),
          evm: z.object({
            bytecode: z.object({ object: z.string() }),
            deployedBytecode: z.object({
              object: z.string(),
              immutableReferences: z.record(z.string(), z.unknown()).default({}),
            }),
          }),
        }),
      ),
    )
    .optional(),
})

const compilerSchema = z.object({
  compile: z.custom<(input: string, callbacks: { import: (path: string) => unknown }) => string>(
    (value) => typeof value === 'function',
  ),
  version: z.custom<() => string>((value) => typeof value === 'function'),
})

const readImport = (path: string): unknown => {
  try {
    return { contents: readFileSync(require.resolve(path), 'utf8') }
  } catch {
    return { error: `${path} is not installed` }
  }
}

const outputs = [
  'abi',
  'evm.bytecode.object',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.immutableReferences',
]

type Compiled = z.infer<typeof outputSchema>['contracts']

const readInput = (from: string, settings: Readonly<Record<string, unknown>>) => ({
  language: 'Solidity',
  sources: Object.fromEntries(
    readdirSync(from)
      .filter((name) => name.endsWith('.sol'))
      .sort()
      .map((name) => [name, { content: readFileSync(join(from, name), 'utf8') }]),
  ),
  settings: {
    ...settings,
    // Without the metadata hash the code depends only on sources and compiler.
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: { '*': { '*': outputs } },
  },
})

const compileFolder = (from: string, settings: Readonly<Record<string, unknown>>): NonNullable<Compiled> => {
  const input = readInput(from, settings)
  const { sources } = input
  const { compile } = compilerSchema.parse(require('solc'))
  const { errors = [], contracts = {} } = outputSchema.parse(
    JSON.parse(compile(JSON.stringify(input), { import: readImport })),
  )
  const failures = errors.filter(({ severity }) => severity === 'error')
  if (failures.length > 0)
    throw new Error(failures.map(({ formattedMessage }) => formattedMessage).join('\n'))
  // Imported sources are libraries and bases; what is deployed is in the folder.
  return Object.fromEntries(Object.entries(contracts).filter(([path]) => path in sources))
}

const testSettings = { optimizer: { enabled: true, runs: 200 }, evmVersion: 'cancun' }

/**
 * SHA-256 of what `artifacts.json` was compiled from: sources, settings and compiler. `npm test` compares it, because
 * compiling takes ten seconds of processor time; `.ci/run` compiles.
 */
export const digestSources = (): string => {
  const { version } = compilerSchema.parse(require('solc'))
  const input = JSON.stringify([version(), readInput(folder, testSettings)])
  return `${createHash('sha256').update(input).digest('hex')}\n`
}

const compileSources = (): ReadonlyMap<string, unknown> => {
  const compiled = compileFolder(folder, testSettings)
  const artifacts = new Map<string, unknown>()
  for (const declared of Object.values(compiled)) {
    for (const [name, { abi, evm }] of Object.entries(declared)) {
      // Interfaces and abstract contracts have no code.
      if (evm.bytecode.object !== '') artifacts.set(name, { abi, bytecode: `0x${evm.bytecode.object}` })
    }
  }
  return artifacts
}

/** The published code, which is at one address on every chain, not a new compilation. */
const readMulticall3 = (): unknown => {
  const constants = join(dirname(require.resolve('viem')), 'constants')
  const { multicall3Bytecode } = z
    .object({ multicall3Bytecode: z.string() })
    .parse(require(join(constants, 'contracts.js')))
  return { abi: multicall3Abi, bytecode: multicall3Bytecode }
}

/** One contract per line, so that a change of one contract changes one line. */
const compileContracts = (): string => {
  const artifacts = new Map(compileSources()).set('Multicall3', readMulticall3())
  const lines = [...artifacts]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, artifact]) => `${JSON.stringify(name)}: ${JSON.stringify(artifact)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

const root = join(folder, '../../..')

/** A contract of the product, as the compiler returns it. */
export interface ProductContract {
  readonly name: string
  readonly abi: readonly unknown[]
  readonly creationCode: Hex
  /** The code on chain: the product's contracts have no immutable variables. */
  readonly code: Hex
}

/**
 * The contracts that the files of `contracts/` are named after. The address follows from the creation code, so a change
 * of the source, of the compiler or of its settings is a new contract.
 */
export const compileProduct = (): readonly ProductContract[] => {
  // Paris: also for chains without the opcodes of later forks.
  const settings = { optimizer: { enabled: true, runs: 1_000_000 }, evmVersion: 'paris' }
  return Object.entries(compileFolder(join(root, 'contracts'), settings)).map(([path, declared]) => {
    const name = basename(path, '.sol')
    const contract = declared[name]
    if (contract === undefined) throw new Error(`${path} declares no ${name}`)
    const { abi, evm } = contract
    const creationCode: unknown = `0x${evm.bytecode.object}`
    const code: unknown = `0x${evm.deployedBytecode.object}`
    if (!isHex(creationCode) || !isHex(code)) throw new Error(`${name} is not linked`)
    if (Object.keys(evm.deployedBytecode.immutableReferences).length > 0) {
      throw new Error(`${name} has immutable variables: its code has no hash before it is deployed`)
    }
    return { name, abi, creationCode, code }
  })
}

/** Modules by path from the root. */
export const compileProductContracts = (
  contracts: readonly ProductContract[] = compileProduct(),
): ReadonlyMap<string, string> =>
  new Map(
    contracts.map((contract) => [
      `src/chains/evm/contracts/${fileNameOf(contract)}.ts`,
      hasArguments(contract) ? writeContractCode(contract) : writeDeployedContract(contract),
    ]),
  )

const fileNameOf = ({ name }: ProductContract): string => `${name.charAt(0).toLowerCase()}${name.slice(1)}`

const constructorSchema = z.object({ type: z.literal('constructor'), inputs: z.array(z.unknown()) })

const hasArguments = ({ abi }: ProductContract): boolean =>
  abi.some((item) => (constructorSchema.safeParse(item).data?.inputs.length ?? 0) > 0)

const writeDeployedContract = (contract: ProductContract): string => {
  const { name, creationCode, code } = contract
  const address = getCreate2Address({ from: deploymentProxy, salt: pad('0x'), bytecode: creationCode })
  return `import type { DeployedContract } from './deployedContract.js'

/** Generated from \`contracts/${name}.sol\` by \`npm run contracts\`: do not edit. */
export const ${fileNameOf(contract)}: DeployedContract = {
  name: '${name}',
  address: '${address}',
  codeHash: '${keccak256(code)}',
  initCode:
    '${creationCode}',
}
`
}

const writeContractCode = (contract: ProductContract): string => {
  const { name, creationCode, code } = contract
  return `import type { ContractCode } from './deployedContract.js'

/** Generated from \`contracts/${name}.sol\` by \`npm run contracts\`: do not edit. */
export const ${fileNameOf(contract)}: ContractCode = {
  name: '${name}',
  codeHash: '${keccak256(code)}',
  creationCode:
    '${creationCode}',
}
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  showHelp(
    'Usage: npm run contracts\n\nCompiles the contracts of tests and product, and writes what the sources import.',
  )
  writeFileSync(join(folder, 'artifacts.json'), compileContracts())
  writeFileSync(join(folder, 'artifacts.sha256'), digestSources())
  console.info('Wrote artifacts.json and artifacts.sha256')
  for (const [path, content] of compileProductContracts()) {
    writeFileSync(join(root, path), content)
    console.info(`Wrote ${path}`)
  }
}
