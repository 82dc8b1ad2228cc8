package recordings

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const deleteOnClose = 0x04000000 // FILE_FLAG_DELETE_ON_CLOSE

func createTemporary() (*os.File, error) {
	name := filepath.Join(os.TempDir(), fmt.Sprintf("dpscope-%d-%d", os.Getpid(), time.Now().UnixNano()))
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_DELETE, nil, syscall.CREATE_NEW, syscall.FILE_ATTRIBUTE_NORMAL|deleteOnClose, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), name), nil
}
