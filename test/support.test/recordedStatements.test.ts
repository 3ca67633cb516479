import { describe, expect, it } from 'vitest'
import { planStatement } from '../../src/stores/postgres/database/plannedStatement.js'
import { listPreparable, omitLiterals } from '../support/recordedStatements.js'

describe('the statements of a script that can be prepared', () => {
  it.each([
    ['begin; set local synchronous_commit = off; select 1; commit', ['select 1']],
    ['/* hold */ select 1 -- ; not here\n; (select 2)', ['select 1', '(select 2)']],
    [`update a set b = 'it''s; so' where c = $1`, [`update a set b = 'it''s; so' where c = $1`]],
    ['with "x;y" as (select $1::int - 2 / 3) select from "x;y"', null],
    ['insert into a values ($tag$;$tag$, $$;$$);', ['insert into a values ($tag$;$tag$, $$;$$)']],
    ['create table a (b int); vacuum a; listen b', []],
  ])('%s', (script, statements) => {
    expect(listPreparable(script)).toEqual(statements ?? [script])
  })
})

it('have one form for all values, and another one for other names, parameters and operators', () => {
  expect(omitLiterals(`select 'a''b', 12 from t2 where "1" = $1`)).toBe(`select ?, ? from t2 where "1" = $1`)
})

it('are found in a block that prepares them, as planned ones are', () => {
  const { prepare, run } = planStatement("/* hold */ select $1::text || ';' as one")
  const message = ['begin', prepare, run(["'b'"]), 'select 2', 'commit'].join('; ')
  expect(listPreparable(message)).toEqual(["select $1::text || ';' as one", 'select 2'])
})
