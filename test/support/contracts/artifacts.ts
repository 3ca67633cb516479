import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Abi, type Hex, isHex } from 'viem'
import { z } from 'zod'
import type artifactsFile from './artifacts.json'

/** A compiled contract, in the form that viem's `deployContract` and `encodeDeployData` take. */
export interface Artifact {
  readonly abi: Abi
  /** The code that creates the contract. */
  readonly bytecode: Hex
}

/** A contract of this folder. */
export type ContractName = keyof typeof artifactsFile

const hexSchema = z.custom<Hex>((value) => isHex(value), 'not hex')
const abiSchema = z.custom<Abi>((value) => Array.isArray(value), 'not a list')
const artifactSchema = z.object({ abi: abiSchema, bytecode: hexSchema })
const packagedSchema = z.object({
  abi: abiSchema,
  bytecode: z.string(),
  deployedBytecode: z.string(),
})

const require = createRequire(import.meta.url)
let artifacts: Readonly<Record<string, Artifact>> | null = null

/** The compiled form of a contract of this folder. */
export const getArtifact = (name: ContractName): Artifact => {
  artifacts ??= z
    .record(z.string(), artifactSchema)
    .parse(JSON.parse(readFileSync(new URL('artifacts.json', import.meta.url), 'utf8')))
  const artifact = artifacts[name]
  if (artifact === undefined) throw new Error(`${name} is not compiled: npm run contracts`)
  return artifact
}

/** A contract that an npm package ships compiled by hardhat. */
export interface PackagedArtifact extends Artifact {
  /** The code on chain, with `__$…$__` where a library's address belongs. */
  readonly deployedBytecode: string
}

/** Reads a hardhat artifact from an installed package, by its module path. */
export const getPackagedArtifact = (path: string): PackagedArtifact => {
  const { abi, bytecode, deployedBytecode } = packagedSchema.parse(require(path))
  // An unlinked bytecode is no hex; it can only be used through `deployedBytecode`.
  return { abi, bytecode: isHex(bytecode) ? bytecode : '0x', deployedBytecode }
}
