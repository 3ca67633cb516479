/**
 * Compiles the Solidity sources in this folder into `artifacts.json`, and the product's in `contracts/` into modules of
 * `src/chains/evm/contracts/` (`npm run contracts`); offline and deterministic.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getCreate2Address, type Hex, isHex, keccak256, multicall3Abi, pad } from 'viem'
import { z } from 'zod'
import { deploymentProxy } from '../../../src/chains/evm/abi/contracts.js'

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
            deployedBytecode: z.object({ object: z.string() }),
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
})

const readImport = (path: string): unknown => {
  try {
    return { contents: readFileSync(require.resolve(path), 'utf8') }
  } catch {
    return { error: `${path} is not installed` }
  }
}

type Compiled = z.infer<typeof outputSchema>['contracts']

const compileFolder = (from: string, settings: Readonly<Record<string, unknown>>): NonNullable<Compiled> => {
  const sources = Object.fromEntries(
    readdirSync(from)
      .filter((name) => name.endsWith('.sol'))
      .sort()
      .map((name) => [name, { content: readFileSync(join(from, name), 'utf8') }]),
  )
  const input = {
    language: 'Solidity',
    sources,
    settings: {
      ...settings,
      // Without the metadata hash the code depends only on sources and compiler.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  }
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

const compileSources = (): ReadonlyMap<string, unknown> => {
  const compiled = compileFolder(folder, { optimizer: { enabled: true, runs: 200 }, evmVersion: 'cancun' })
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
export const compileContracts = (): string => {
  const artifacts = new Map(compileSources()).set('Multicall3', readMulticall3())
  const lines = [...artifacts]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, artifact]) => `${JSON.stringify(name)}: ${JSON.stringify(artifact)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

const root = join(folder, '../../..')

/**
 * The product's contracts, as modules by path from the root. The address follows from the init code, so a change of the
 * source, of the compiler or of its settings is a new contract.
 */
export const compileProductContracts = (): ReadonlyMap<string, string> => {
  // Paris: also for chains without the opcodes of later forks.
  const settings = { optimizer: { enabled: true, runs: 1_000_000 }, evmVersion: 'paris' }
  const modules = new Map<string, string>()
  for (const declared of Object.values(compileFolder(join(root, 'contracts'), settings))) {
    for (const [name, { evm }] of Object.entries(declared)) {
      const initCode: unknown = `0x${evm.bytecode.object}`
      const code: unknown = `0x${evm.deployedBytecode.object}`
      if (!isHex(initCode) || !isHex(code)) throw new Error(`${name} is not linked`)
      const fileName = `${name.charAt(0).toLowerCase()}${name.slice(1)}`
      modules.set(`src/chains/evm/contracts/${fileName}.ts`, writeModule({ name, fileName, initCode, code }))
    }
  }
  return modules
}

const writeModule = (contract: {
  readonly name: string
  readonly fileName: string
  readonly initCode: Hex
  readonly code: Hex
}): string => {
  const { name, fileName, initCode, code } = contract
  const address = getCreate2Address({ from: deploymentProxy, salt: pad('0x'), bytecode: initCode })
  return `import type { DeployedContract } from './deployedContract.js'

/** Generated from \`contracts/${name}.sol\` by \`npm run contracts\`: do not edit. */
export const ${fileName}: DeployedContract = {
  name: '${name}',
  address: '${address}',
  codeHash: '${keccak256(code)}',
  initCode:
    '${initCode}',
}
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(folder, 'artifacts.json'), compileContracts())
  console.info('Wrote artifacts.json')
  for (const [path, content] of compileProductContracts()) {
    writeFileSync(join(root, path), content)
    console.info(`Wrote ${path}`)
  }
}
