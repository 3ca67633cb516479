// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {VrsToken3009, Token3009} from "./Token3009.sol";

/// @notice Treats each recipient by a mood that anyone can set, and balances as a token that rebases does.
contract MoodyToken is Token3009 {
    enum Mood {
        Pays,
        BurnsGas,
        BurnsGasWhenSent, // in every mined transaction, and in no simulation without a price of gas
        ReturnsMuch,
        RevertsWithMuch
    }

    mapping(address => Mood) public moodOf;

    constructor(string memory name, string memory version) VrsToken3009(name, version) {}

    function setMood(address recipient, Mood next) external {
        moodOf[recipient] = next;
    }

    function rebase(address owner, uint256 balance) external {
        balanceOf[owner] = balance;
    }

    function _move(address from, address to, uint256 value) internal override {
        Mood mood = moodOf[to];
        if (mood == Mood.BurnsGas || (mood == Mood.BurnsGasWhenSent && tx.gasprice > 0)) while (true) {}
        if (mood == Mood.RevertsWithMuch) {
            assembly {
                revert(0, 150000)
            }
        }
        super._move(from, to, value);
        if (mood == Mood.ReturnsMuch) {
            assembly {
                mstore(0, 1)
                return(0, 150000)
            }
        }
    }
}
