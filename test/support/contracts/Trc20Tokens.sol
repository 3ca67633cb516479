// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @notice A token as TRON knows it: payers send `transfer` themselves.
contract Trc20Token {
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) internal {
        require(balanceOf[from] >= value, "balance is too low");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// @notice Tether's own on TRON: answers false to a transfer that succeeds, may keep a fee, and blocks accounts.
contract TetherTrc20 is Trc20Token {
    address public constant FEE_COLLECTOR = address(0xFEE);
    uint256 public basisPointsRate;
    bool public paused;
    mapping(address => bool) public isBlackListed;

    function setFee(uint256 rate) external {
        basisPointsRate = rate;
    }

    function setPaused(bool isPaused) external {
        paused = isPaused;
    }

    function setBlackListed(address account, bool isBlocked) external {
        isBlackListed[account] = isBlocked;
    }

    function transfer(address to, uint256 value) external override returns (bool) {
        require(!paused, "paused");
        require(!isBlackListed[msg.sender], "blacklisted");
        uint256 fee = (value * basisPointsRate) / 10_000;
        _move(msg.sender, to, value - fee);
        if (fee > 0) _move(msg.sender, FEE_COLLECTOR, fee);
        return false;
    }
}

/// @notice Succeeds without paying. The lie can be changed at any time.
contract LyingTrc20 is Trc20Token {
    enum Lie {
        None,
        SaysNothing, // moves nothing and emits no Transfer
        SaysWrongValue, // moves half, and emits a Transfer of half
        SaysWrongRecipient, // pays someone else, and says so
        RevertsLate // refuses once it is in a block
    }

    Lie public lie;

    function setLie(Lie next) external {
        lie = next;
    }

    function transfer(address to, uint256 value) external override returns (bool) {
        require(lie != Lie.RevertsLate, "changed my mind");
        if (lie == Lie.None) _move(msg.sender, to, value);
        if (lie == Lie.SaysWrongValue) _move(msg.sender, to, value / 2);
        if (lie == Lie.SaysWrongRecipient) _move(msg.sender, address(0xBAD), value);
        return true;
    }
}
